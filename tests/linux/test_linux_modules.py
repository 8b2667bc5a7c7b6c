# SPDX-License-Identifier: Apache-2.0
"""Which modules an emulated machine loads, from packages of kernels that are made up here."""

import lzma

import linux_modules
import pytest

FOLDER = "usr/lib/modules/6.12.1-arm64"


def module(**facts):
    return b"\x7fELF\0" + b"".join(f"{key}={value}\0".encode() for key, value in facts.items()) + b"code"


def kernel(modules, built_in=()):
    """Reads a package with these modules. A name that ends in .xz is compressed."""
    files = {"boot/vmlinuz-6.12.1-arm64": b"image", f"{FOLDER}/modules.builtin": "\n".join(built_in).encode()}
    for name, content in modules.items():
        files[f"{FOLDER}/kernel/{name}"] = lzma.compress(content) if name.endswith(".xz") else content
    return linux_modules.read((name, None, lambda content=content: content) for name, content in files.items())


def test_modules_come_after_what_they_need():
    found = kernel({
        "drivers/nvme/host/nvme.ko": module(depends="nvme-core,t10-pi"),
        "drivers/nvme/host/nvme-core.ko": module(license="GPL", depends="t10-pi"),
        "block/t10-pi.ko": module(depends=""),
        "fs/other.ko": module(depends=""),
    })
    assert found.in_order(["nvme"]) == ["t10_pi", "nvme_core", "nvme"]


def test_a_compressed_module_is_unpacked():
    found = kernel({"drivers/nvme/host/nvme.ko.xz": module(depends="nvme-core"), "drivers/nvme/host/nvme-core.ko.xz": module(depends="")})
    assert found.image == b"image"
    assert found.in_order(["nvme"]) == ["nvme_core", "nvme"]
    assert found.modules["nvme"] == module(depends="nvme-core")


def test_a_kernel_may_be_beside_its_modules():
    files = [("usr/lib/modules/7.3.4-arm64/vmlinuz", None, lambda: b"image")]
    assert linux_modules.read(files).image == b"image"


def test_what_is_built_in_is_not_loaded():
    found = kernel({"drivers/nvme/host/nvme.ko": module(depends="")}, ["kernel/lib/crc64.ko", "kernel/fs/nls/nls-base.ko"])
    assert found.in_order(["nvme", "crc64", "nls_base"]) == ["nvme"]


def test_a_requested_algorithm_is_found_by_its_alias():
    found = kernel({
        "fs/ext4/ext4.ko": module(softdep="pre: crypto-crc32c post: later", depends="jbd2"),
        "fs/jbd2/jbd2.ko": module(depends=""),
        "crypto/crc32c_generic.ko": module(alias="crypto-crc32c", depends=""),
        "arch/x86/crypto/crc32c-intel.ko": module(alias="crypto-crc32c", depends=""),
        "lib/later.ko": module(depends=""),
    })
    assert found.in_order(["ext4"]) == ["jbd2", "crc32c_generic", "ext4"]


def test_a_requested_algorithm_may_be_built_in():
    found = kernel({"fs/ext4/ext4.ko": module(softdep="pre: crypto-crc32c", depends="")})
    assert found.in_order(["ext4"]) == ["ext4"]


@pytest.mark.parametrize("wanted", ["nvme", "exfat"])
def test_a_module_that_is_missing_is_reported(wanted):
    found = kernel({"drivers/nvme/host/nvme.ko": module(depends="nvme-core")})
    with pytest.raises(AssertionError, match="no module (nvme_core|exfat)"):
        found.in_order([wanted])
