"""The backing services: a database, a broker and a cache."""
import getpass
import subprocess
from layout import CONF, DATA, HOST, PASSWORD, PORTS, SetupError
from process import environment, run, start, wait_for_port

NAMES = ("mariadb", "epmd", "rabbitmq", "memcached")
DATABASES = ("keystone", "glance", "placement", "nova_api", "nova", "nova_cell0", "neutron", "cinder")


def start_all():
    """Start all backing services."""
    start_mariadb()
    start_rabbitmq()
    start("memcached", "memcached", "-u", getpass.getuser(), "-l", HOST, "-p", PORTS["memcached"],
          "-U", "0", "-m", "64")
    for name in NAMES:
        wait_for_port(name)
    user = f"'kiln'@'%' IDENTIFIED BY '{PASSWORD}'"
    sql(f"CREATE USER IF NOT EXISTS {user}; GRANT ALL ON *.* TO 'kiln'@'%';"
        + "".join(f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb3;" for name in DATABASES))


def start_mariadb():
    """Start MariaDB. Commits need not survive a crash of the machine, which makes it much faster."""
    folder, user = DATA / "mariadb", f"--user={getpass.getuser()}"
    if not (folder / "mysql").exists():
        run("mariadb", "mariadb-install-db", "--no-defaults", user, f"--datadir={folder}",
            "--auth-root-authentication-method=normal", "--skip-test-db")
    # The path of the socket is relative to the data directory, because an absolute one may be too long.
    start("mariadb", "mariadbd", "--no-defaults", user, f"--datadir={folder}",
          "--socket=socket", f"--bind-address={HOST}", f"--port={PORTS['mariadb']}",
          "--max-connections=500", "--skip-log-bin", "--innodb-buffer-pool-size=256M",
          "--innodb-flush-log-at-trx-commit=0")


def start_rabbitmq():
    """Start RabbitMQ. The user guest is allowed, because only this machine can connect."""
    folder = DATA / "rabbitmq"
    (folder / "log").mkdir(parents=True, exist_ok=True)
    conf = CONF / "rabbitmq.conf"
    conf.write_text(f"listeners.tcp.1 = {HOST}:{PORTS['rabbitmq']}\nlog.file.level = warning\n")
    (CONF / "rabbitmq-plugins").write_text("[].\n")
    (CONF / "rabbitmq-env.conf").write_text("")
    start("epmd", "epmd", "-port", PORTS["epmd"], "-address", HOST)
    wait_for_port("epmd")
    start("rabbitmq", "/usr/lib/rabbitmq/bin/rabbitmq-server",
          ERL_EPMD_ADDRESS=HOST, ERL_EPMD_PORT=str(PORTS["epmd"]), HOME=str(folder),
          RABBITMQ_CONF_ENV_FILE=str(CONF / "rabbitmq-env.conf"), RABBITMQ_CONFIG_FILE=str(conf),
          RABBITMQ_DIST_PORT=str(PORTS["rabbitmq-nodes"]),
          RABBITMQ_ENABLED_PLUGINS_FILE=str(CONF / "rabbitmq-plugins"),
          RABBITMQ_LOG_BASE=str(folder / "log"), RABBITMQ_MNESIA_BASE=str(folder / "mnesia"),
          RABBITMQ_NODENAME="kiln@localhost",
          RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}")


def sql(text, *options):
    """Run a statement and return its output."""
    command = ["mariadb", "--no-defaults", "--protocol=tcp", f"--host={HOST}",
               f"--port={PORTS['mariadb']}", "--user=root", "--skip-column-names", "--batch", *options]
    ended = subprocess.run(command, input=text, env=environment(), text=True, capture_output=True)
    if ended.returncode:
        raise SetupError(f"The database rejected the statement: {ended.stderr.strip()}")
    return ended.stdout.strip()
