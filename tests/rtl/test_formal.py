# SPDX-License-Identifier: Apache-2.0
"""tools/rtl/formal.py: a proof leaves out the properties of modules that have proofs of their own."""

import dataclasses

import formal

RATE = next(task for task in formal.tasks() if task.file == "buffer_rate")


def test_what_is_bound_to_a_proven_module_is_left_out_with_it():
    task = dataclasses.replace(RATE, proven=("spate_fifo", "spate_buffer"))
    assert formal.proven_elsewhere(task) == ["spate_fifo.sv", "spate_buffer.sv", "buffer_ports.sv", "buffer_inside.sv"]


def test_what_is_bound_to_another_module_stays():
    assert formal.proven_elsewhere(dataclasses.replace(RATE, proven=("spate_fifo",))) == ["spate_fifo.sv"]


def test_each_bound_file_is_in_each_proof_with_its_module():
    """Without it, that proof would be weaker than the module's own."""
    paths = [*formal.TASKS.glob("*_ports.sv"), *formal.TASKS.glob("*_inside.sv")]
    bound = {path.name: formal.BOUND.findall(path.read_text())[-1] for path in paths}
    for task in {task.file: task for task in formal.tasks()}.values():
        files = {file.rpartition("/")[2] for file in formal.filelist.needed_by(task.top, task.extra)}
        for name, module in bound.items():
            if f"{module}.sv" in files and module not in task.proven:
                assert name in files, f"{task.file}.toml: {name} is missing in `extra`"


def test_what_is_reached_lies_within_the_proof():
    """A promise whose case comes later than the depth of the bounded proof is not proven."""
    for file in ("write_frames", "ring_order", "ring_deliver", "ring_ddr", "ring_ddr_eager", "ring_store_part", "stripe_cut", "stripe_member", "stripe_side", "stripe_place",
                 "cdc_flush", "cdc_reset", "pcie_usp_link"):
        of_file = [task for task in formal.tasks() if task.file == file]
        for reach in (task for task in of_file if task.mode == "cover"):
            depths = [task.depth for task in of_file if task.mode == "bmc" and task.parameters == reach.parameters]
            assert depths and max(depths) >= reach.depth, f"{reach.name}: no bounded proof with its parameters is as deep"
