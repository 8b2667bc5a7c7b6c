# SPDX-License-Identifier: Apache-2.0
SUMMARY = "Records streams onto NVMe drives, as files that any PC opens"
DESCRIPTION = "The command spate: records pipes, files, UDP and rings of other programs onto image files, block devices \
               and NVMe drives, as exFAT volumes with checkpoints, and verifies, extracts and recovers recordings."
SECTION = "console/utils"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://LICENSE;md5=3b83ef96387f14655fc854ddc3c6bd57"

DEPENDS = "liburing"

# The source is the repository that contains this recipe.
SRC_URI = ""

inherit cmake pkgconfig externalsrc

EXTERNALSRC = "${@os.path.normpath(d.getVar('THISDIR') + '/../../../../..')}"

EXTRA_OECMAKE = "-DSPATE_HOSTED=ON -DSPATE_PORT_DIR=${S}/ports/linux"
