"""Nova: `python -m kiln_fakes.compute` is nova-compute with a hypervisor that runs nothing.

Nova loads drivers from its own package only, so this module registers itself there first.
"""
import sys
from nova.cmd import compute
from nova import virt
from nova.compute import power_state, task_states
from nova.image import glance
from nova.virt import fake, hardware
import io

STATES = (power_state.RUNNING, power_state.SHUTDOWN, power_state.PAUSED, power_state.SUSPENDED)


class Hypervisor(fake.FakeDriverWithoutFakeNodes):
    """Nova's own fake driver, which keeps no state; this one uses the state in Nova's database."""

    capabilities = {**fake.FakeDriver.capabilities, "supports_migrate_to_same_host": True}

    def _known(self, instance, state=None):
        """Register an instance; one of a previous process counts as running here."""
        before = instance.power_state if instance.power_state in STATES else power_state.RUNNING
        if instance.uuid not in self.instances:
            self.instances[instance.uuid] = fake.FakeInstance(instance.name, before, instance.uuid)
        if state is not None:
            self.instances[instance.uuid].state = state

    def get_info(self, instance, use_cache=True):
        if instance.uuid in self.instances:
            return super().get_info(instance, use_cache)
        return hardware.InstanceInfo(state=instance.power_state or power_state.RUNNING)

    def power_off(self, instance, *args, **kwargs):
        self._known(instance, power_state.SHUTDOWN)

    def power_on(self, context, instance, *args, **kwargs):
        self._known(instance, power_state.RUNNING)

    def pause(self, instance):
        self._known(instance, power_state.PAUSED)

    def unpause(self, instance):
        self._known(instance, power_state.RUNNING)

    def suspend(self, context, instance):
        self._known(instance, power_state.SUSPENDED)

    def resume(self, context, instance, *args, **kwargs):
        self._known(instance, power_state.RUNNING)

    def detach_interface(self, context, instance, vif):
        self._interfaces.pop(vif["id"], None)

    def snapshot(self, context, instance, image_id, update_task_state):
        pending = task_states.IMAGE_PENDING_UPLOAD
        update_task_state(task_state=pending)
        update_task_state(task_state=task_states.IMAGE_UPLOADING, expected_state=pending)
        images = glance.API()
        image = {"name": images.get(context, image_id)["name"], "status": "active",
                 "disk_format": "raw", "container_format": "bare"}
        images.update(context, image_id, image, io.BytesIO(bytes(1024)), purge_props=False)


if __name__ == "__main__":
    virt.kiln = sys.modules["nova.virt.kiln"] = sys.modules["__main__"]
    sys.argv[0] = "nova-compute"
    compute.main()
