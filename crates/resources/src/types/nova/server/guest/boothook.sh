#!/bin/sh
# Runs early on every boot. Whatever goes wrong here must not keep the server from booting.
@USER@
for helper in /usr/bin/cfn-create-aws-symlinks /opt/aws/bin/cfn-create-aws-symlinks; do
    if [ -x "$helper" ]; then
        "$helper" --source "$(dirname "$helper")"
        break
    fi
done
exit 0
