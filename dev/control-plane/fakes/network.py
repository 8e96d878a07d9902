"""Neutron: ports are bound without agents."""
from neutron_lib import constants
from neutron_lib.api.definitions import portbindings
from neutron_lib.plugins.ml2 import api


class BindsAtOnce(api.MechanismDriver):
    """Binds a port that has a host to the first segment and makes it active."""

    connectivity = portbindings.CONNECTIVITY_L2

    def initialize(self):
        pass

    def bind_port(self, context):
        segments = context.segments_to_bind
        if segments:
            details = {portbindings.CAP_PORT_FILTER: True}
            context.set_binding(segments[0][api.ID], portbindings.VIF_TYPE_OVS, details,
                                constants.PORT_STATUS_ACTIVE)
