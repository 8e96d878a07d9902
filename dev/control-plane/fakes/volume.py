"""Cinder: a volume is an empty file of the right size, whatever its source is."""
import io
import os
from cinder import interface
from cinder.volume import configuration, driver
from oslo_config import cfg

OPTIONS = [cfg.StrOpt("kiln_folder", help="The directory of the files.")]
cfg.CONF.register_opts(OPTIONS, group=configuration.SHARED_CONF_GROUP)
GIB = 1 << 30


@interface.volumedriver
class EmptyFiles(driver.VolumeDriver):
    """Manages volumes and snapshots without data."""

    VERSION = "1"
    CI_WIKI_NAME = "none"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.configuration.append_config_values(OPTIONS)
        self.folder = self.configuration.kiln_folder

    @staticmethod
    def get_driver_options():
        return OPTIONS

    def check_for_setup_error(self):
        os.makedirs(self.folder, exist_ok=True)

    def _update_volume_stats(self):
        pool = {"pool_name": "files", "total_capacity_gb": "infinite", "free_capacity_gb": "infinite",
                "reserved_percentage": 0, "multiattach": True, "QoS_support": True}
        self._stats = {"volume_backend_name": "files", "vendor_name": "Kiln", "driver_version": "1",
                       "storage_protocol": "file", "pools": [pool]}

    def local_path(self, thing):
        return os.path.join(self.folder, thing["name"])

    def _make(self, thing, gib):
        with open(self.local_path(thing), "ab") as file:
            file.truncate(gib * GIB)

    def _remove(self, thing):
        try:
            os.unlink(self.local_path(thing))
        except FileNotFoundError:
            pass

    def create_volume(self, volume):
        self._make(volume, volume["size"])

    def create_volume_from_snapshot(self, volume, snapshot):
        self._make(volume, volume["size"])

    def create_cloned_volume(self, volume, src_vref):
        self._make(volume, volume["size"])

    def clone_image(self, context, volume, image_location, image_meta, image_service):
        self._make(volume, volume["size"])
        return {}, True

    def copy_volume_to_image(self, context, volume, image_service, image_meta):
        image_service.update(context, image_meta["id"], {}, io.BytesIO(bytes(1024)))

    def extend_volume(self, volume, new_size):
        self._make(volume, new_size)

    def delete_volume(self, volume):
        self._remove(volume)

    def create_snapshot(self, snapshot):
        self._make(snapshot, snapshot["volume_size"])

    def delete_snapshot(self, snapshot):
        self._remove(snapshot)

    def revert_to_snapshot(self, context, volume, snapshot):
        self._make(volume, volume["size"])

    def retype(self, context, volume, new_type, diff, host):
        return True

    def ensure_export(self, context, volume):
        pass

    def create_export(self, context, volume, connector):
        pass

    def remove_export(self, context, volume):
        pass

    def validate_connector(self, connector):
        pass

    def initialize_connection(self, volume, connector):
        return {"driver_volume_type": "local", "data": {"device_path": self.local_path(volume)}}

    def terminate_connection(self, volume, connector, **kwargs):
        pass
