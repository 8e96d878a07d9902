if ! id -u @NAME@ >/dev/null 2>&1; then
    useradd -m @NAME@
    mkdir -p /etc/sudoers.d
    echo '@NAME@ ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/@NAME@
    chmod 0440 /etc/sudoers.d/@NAME@
fi
