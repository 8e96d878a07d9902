"""The services of OpenStack: their databases and processes, in the order of their dependencies."""
from concurrent.futures import ThreadPoolExecutor
import clouds
import settings
from layout import CONF, HYPERVISORS, PASSWORD, REGION, VENV, database, report, url
from process import run, start, start_api, wait, wait_for_api
from servers import sql

APIS = ("keystone", "glance", "placement", "nova", "neutron", "cinder")
NAMES = (*APIS, "nova-conductor", "nova-scheduler", *(f"nova-{host}" for host in HYPERVISORS),
         "cinder-scheduler", "cinder-volume")


def start_identity():
    """Start Keystone with an administrator."""
    settings.write()
    manage = (VENV / "bin/keystone-manage", "--config-file", CONF / "keystone.conf")
    if not (CONF / "keystone.ready").exists():
        report("setting up keystone")
        (CONF / "fernet-keys").mkdir(mode=0o700, exist_ok=True)
        (CONF / "credential-keys").mkdir(mode=0o700, exist_ok=True)
        run("keystone-manage", *manage, "db_sync")
        for keys in ("fernet_setup", "credential_setup"):
            run("keystone-manage", *manage, keys, "--keystone-user", "root", "--keystone-group", "root")
        where = [word for kind in ("public", "internal", "admin")
                 for word in (f"--bootstrap-{kind}-url", url("keystone", "/v3"))]
        run("keystone-manage", *manage, "bootstrap", "--bootstrap-password", PASSWORD,
            "--bootstrap-region-id", REGION, *where)
        (CONF / "keystone.ready").touch()
    start_api("keystone", "keystone.wsgi.api", OS_KEYSTONE_CONFIG_DIR=str(CONF),
              OS_KEYSTONE_CONFIG_FILES="keystone.conf")
    wait_for_api("keystone")


def start_others():
    """Start all other services and create the objects that stacks need."""
    make_tables()
    nova, cinder = CONF / "nova/controller.conf", CONF / "cinder/cinder.conf"
    start_api("placement", "placement.wsgi.api", OS_PLACEMENT_CONFIG_DIR=str(CONF / "placement"))
    start_api("glance", "glance.wsgi.api", OS_GLANCE_CONFIG_DIR=str(CONF / "glance"))
    start_api("neutron", "neutron.wsgi.api", OS_NEUTRON_CONFIG_DIR=str(CONF / "neutron"),
              OS_NEUTRON_CONFIG_FILES="neutron.conf")
    start_api("nova", "nova.wsgi.osapi_compute", OS_NOVA_CONFIG_DIR=str(CONF / "nova"),
              OS_NOVA_CONFIG_FILES=f"{VENV / 'etc/nova/api-paste.ini'};controller.conf")
    start_api("cinder", "cinder.wsgi.api", "--config-file", cinder)
    for name in ("nova-conductor", "nova-scheduler"):
        start(name, VENV / "bin" / name, "--config-file", nova)
    for name in ("cinder-scheduler", "cinder-volume"):
        start(name, VENV / "bin" / name, "--config-file", cinder)
    wait_for_api("placement")
    for host in HYPERVISORS:
        start(f"nova-{host}", VENV / "bin/python", "-m", "kiln_fakes.compute", "--config-file",
              CONF / f"nova/{host}.conf")
    for name in APIS:
        wait_for_api(name)
    wait_for_workers()
    clouds.furnish()


def make_tables():
    """Create the tables of each service once, two services at a time."""
    def manage(program, *words):
        return (VENV / "bin" / program, "--config-file", *words)
    nova = CONF / "nova/controller.conf"
    chains = [
        [("neutron", manage("neutron-db-manage", CONF / "neutron/neutron.conf", "upgrade", "heads")),
         ("placement", manage("placement-manage", CONF / "placement/placement.conf", "db", "sync"))],
        [("nova_api", manage("nova-manage", nova, "api_db", "sync")),
         ("nova_cell0", manage("nova-manage", CONF / "nova/cell0.conf", "db", "sync", "--local_cell")),
         ("nova", manage("nova-manage", nova, "db", "sync", "--local_cell")),
         ("cell0", manage("nova-manage", nova, "cell_v2", "map_cell0", "--database_connection",
                          database("nova_cell0"))),
         ("cell1", manage("nova-manage", nova, "cell_v2", "create_cell", "--name", "cell1")),
         ("cinder", manage("cinder-manage", CONF / "cinder/cinder.conf", "db", "sync")),
         ("glance", manage("glance-manage", CONF / "glance/glance-api.conf", "db_sync"))],
    ]

    def make(chain):
        for name, command in chain:
            done = CONF / f"{name}.tables"
            if not done.exists():
                report(f"creating the tables of {name}")
                run(f"{name}-tables", *command)
                done.touch()
    with ThreadPoolExecutor() as pool:
        for ended in [pool.submit(make, chain) for chain in chains]:
            ended.result()


def wait_for_workers():
    """Wait until the hypervisors and cinder-volume have reported, and the scheduler knows them."""
    def seen(base, time, program, count):
        text = (f"SELECT count(DISTINCT host) FROM {base}.services WHERE `binary`='{program}' AND "
                f"deleted=0 AND {time} > utc_timestamp() - interval 30 second")
        return int(sql(text)) >= count
    wait("the first report of the hypervisors", f"nova-{HYPERVISORS[-1]}",
         lambda: seen("nova", "last_seen_up", "nova-compute", len(HYPERVISORS)))
    wait("the first report of cinder-volume", "cinder-volume",
         lambda: seen("cinder", "updated_at", "cinder-volume", 1))
    known = sql("SELECT host FROM nova_api.host_mappings").split()
    if not set(HYPERVISORS) <= set(known):
        nova = CONF / "nova/controller.conf"
        run("nova-tables", VENV / "bin/nova-manage", "--config-file", nova, "cell_v2", "discover_hosts",
            "--by-service")
