# SPDX-License-Identifier: Apache-2.0
# Of each spate_cdc_reset. The reset comes at any time; the two flip-flops make its end synchronous.

set_false_path -to [get_pins {released_q_reg[*]/CLR}]
