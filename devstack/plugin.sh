#!/usr/bin/env bash
# The devstack plugin: `enable_plugin kiln REPOSITORY` in local.conf installs Kiln in place of Heat.
#
# A local.conf for devstack's Heat works with the name swapped: its sections [[post-config|$HEAT_CONF]] apply to Kiln's
# file, and the services keep their names.

HEAT_CONF=$KILN_CONF

# Installs the program: the one that KILN_BINARY names, or one that is built here.
function install_kiln {
    case "$KILN_BINARY" in
        *.deb) sudo dpkg -i "$KILN_BINARY"; KILN_BIN=/usr/bin/kiln ;;
        ?*) sudo install -m 755 "$KILN_BINARY" "$KILN_BIN" ;;
        *)
            (cd "$KILN_DIR" && cargo build --release --locked -p kiln)
            sudo install -m 755 "$KILN_DIR/target/release/kiln" "$KILN_BIN"
            ;;
    esac
    local name
    for name in heat heat-api heat-api-cfn heat-api-cloudwatch heat-engine heat-manage; do
        sudo ln -sf "$KILN_BIN" "$(dirname "$KILN_BIN")/$name"
    done
}

# Writes the configuration file.
function configure_kiln {
    sudo install -d -o "$STACK_USER" "$KILN_CONF_DIR" "$KILN_STATE_DIR"
    "$KILN_BIN" config sample >"$KILN_CONF"
    iniset "$KILN_CONF" database connection "$(database_connection_url kiln)"
    iniset "$KILN_CONF" kiln keys_file "$KILN_STATE_DIR/kiln.keys"
    iniset "$KILN_CONF" keystone_authtoken auth_url "$KEYSTONE_SERVICE_URI"
    iniset "$KILN_CONF" keystone_authtoken www_authenticate_uri "$KEYSTONE_SERVICE_URI"
    iniset "$KILN_CONF" keystone_authtoken username heat
    iniset "$KILN_CONF" keystone_authtoken password "$SERVICE_PASSWORD"
    iniset "$KILN_CONF" keystone_authtoken project_name "$SERVICE_PROJECT_NAME"
    iniset "$KILN_CONF" heat_api bind_port "$HEAT_API_PORT"
    iniset "$KILN_CONF" heat_api_cfn bind_port "$HEAT_API_CFN_PORT"
    iniset "$KILN_CONF" DEFAULT region_name_for_services "$REGION_NAME"
    iniset "$KILN_CONF" DEFAULT stack_user_domain_name "$HEAT_STACK_DOMAIN"
    iniset "$KILN_CONF" DEFAULT stack_domain_admin "$HEAT_STACK_DOMAIN_ADMIN"
    iniset "$KILN_CONF" DEFAULT stack_domain_admin_password "$SERVICE_PASSWORD"
    iniset "$KILN_CONF" DEFAULT heat_metadata_server_url "http://$HEAT_SERVICE_HOST:$HEAT_API_CFN_PORT"
    if is_service_enabled rabbit; then
        iniset "$KILN_CONF" DEFAULT transport_url "$(get_transport_url)"
    fi
}

# Creates the service user, the endpoints and the domain of stack users.
function create_kiln_accounts {
    create_service_user heat admin
    get_or_create_service heat orchestration "Orchestration"
    get_or_create_endpoint orchestration "$REGION_NAME" \
        "$SERVICE_PROTOCOL://$HEAT_SERVICE_HOST:$HEAT_API_PORT/v1/\$(project_id)s"
    get_or_create_service heat-cfn cloudformation "Orchestration (CloudFormation)"
    get_or_create_endpoint cloudformation "$REGION_NAME" "$SERVICE_PROTOCOL://$HEAT_SERVICE_HOST:$HEAT_API_CFN_PORT/v1"
    get_or_create_role heat_stack_user
    local domain
    domain=$(get_or_create_domain "$HEAT_STACK_DOMAIN" "Stack users")
    get_or_create_user "$HEAT_STACK_DOMAIN_ADMIN" "$SERVICE_PASSWORD" "$domain"
    get_or_add_user_domain_role admin \
        "$(get_or_create_user "$HEAT_STACK_DOMAIN_ADMIN" "$SERVICE_PASSWORD" "$domain")" "$domain"
}

# Starts the services, each role in a process of its own.
function start_kiln {
    "$KILN_BIN" doctor --config "$KILN_CONF" || true
    run_process h-eng "$KILN_BIN server --config $KILN_CONF --role engine"
    run_process h-api "$KILN_BIN server --config $KILN_CONF --role api"
    run_process h-api-cfn "$KILN_BIN server --config $KILN_CONF --role cfn"
}

function stop_kiln {
    local service
    for service in h-api h-api-cfn h-eng; do
        stop_process "$service"
    done
}

case "$1 ${2:-}" in
    "stack install") install_kiln ;;
    "stack post-config")
        configure_kiln
        recreate_database kiln
        create_kiln_accounts
        ;;
    "stack extra") start_kiln ;;
    "unstack "*) stop_kiln ;;
    "clean "*) sudo rm -rf "$KILN_CONF_DIR" "$KILN_STATE_DIR" ;;
esac
