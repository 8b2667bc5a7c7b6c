/* SPDX-License-Identifier: Apache-2.0 */
/* The bridge: opened and enumerated by the board, the state of its link, and its windows. */
#include "../core/ticks.h"
#include "checkup.h"

/* How long the states of a link that is down are watched. Detect alone takes 12 ms, Polling up to 48 ms (4.2.6). */
#define WATCH_MS    200u
#define SAMPLES_MAX UINT32_C(1000000)

struct watched {
  struct spate_pcie_phy phy; /* with the state of the highest rank */
  uint64_t states;           /* a bit for each that was seen */
};

/* False: the bridge has no such register. A link that is up is looked at for the same time: one that recovers again and
 * again is seen in Recovery. */
static bool watch(struct spate_checkup *checkup, struct watched *watched) {
  const enum spate_doctor_ltssm numbers = checkup->config->ltssm;
  const uint64_t end_ticks = spate_port_ticks() + spate_ticks_of_ms(WATCH_MS);
  uint32_t samples = 0, recovering = 0;
  struct spate_pcie_phy now;
  uint8_t furthest = 0, recovery = 0;

  watched->states = 0;
  do {
    if (spate_pcie_phy(checkup->config->host, &now) != SPATE_OK) return false;
    const unsigned rank = spate_doctor_ltssm_rank(numbers, now.ltssm);
    if (samples == 0 || rank > spate_doctor_ltssm_rank(numbers, furthest)) furthest = now.ltssm;
    if (rank == DOCTOR_RANK_RECOVERY) recovering++, recovery = now.ltssm;
    watched->states |= UINT64_C(1) << (now.ltssm & 63u);
    spate_port_relax();
  } while (++samples < SAMPLES_MAX && spate_port_ticks() < end_ticks);
  watched->phy = now;
  watched->phy.ltssm = now.up && recovering > samples / 2u ? recovery : furthest;
  return true;
}

/* A link that is up is in no state before L0. Bridges that show one all the same do not have this field (QEMU's). */
static void tell_states(const struct spate_checkup *checkup, const struct watched *watched) {
  const enum spate_doctor_ltssm numbers = checkup->config->ltssm;

  for (unsigned state = 0; state < 64; state++) {
    if (!(watched->states >> state & 1u)) continue;
    if (watched->phy.up && spate_doctor_ltssm_rank(numbers, (uint8_t)state) < DOCTOR_RANK_RECOVERY) continue;
    spate_checkup_fact(
        checkup, "link", NULL, "state {n} ({0x}) was seen",
        (struct checkup_values){.numbers = {state}, .name = spate_doctor_ltssm_name(numbers, (uint8_t)state)});
  }
}

/* Detect ends when there is a receiver on a lane. The bridges do not show which lanes have one: only how many are in
 * use, when the link is up. */
static const char *summary(const struct spate_pcie_phy *phy, unsigned rank) {
  if (phy->up) return "up, {0s} x{1}";
  if (rank == DOCTOR_RANK_OFF) return "down";
  return rank == DOCTOR_RANK_DETECT ? "down; no receiver was detected"
                                    : "down; a receiver was detected on at least one lane";
}

/* A port that finds no receiver goes from Detect.Quiet to Detect.Active and back at least each 24 ms. A bridge that
 * only shows 0 is not looking for one, or its registers are elsewhere. */
static bool only_zeros(const struct watched *watched) { return watched->states == 1u && !watched->phy.up; }

/* `error` is that of opening the bridge. */
static void look_at_link(struct spate_checkup *checkup, enum spate_error error) {
  const enum spate_doctor_ltssm numbers = checkup->config->ltssm;
  struct watched watched;

  if (!watch(checkup, &watched)) {
    spate_checkup_fact(checkup, "link", NULL, "the bridge does not show the state of its link",
                       (struct checkup_values){.name = NULL});
    return;
  }
  tell_states(checkup, &watched);
  spate_checkup_fact(checkup, "link", NULL, summary(&watched.phy, spate_doctor_ltssm_rank(numbers, watched.phy.ltssm)),
                     (struct checkup_values){.numbers = {watched.phy.link.speed, watched.phy.link.width}});
  if (only_zeros(&watched))
    spate_checkup_found(checkup, SPATE_DOCTOR_LINK_STATE_ZERO, (struct checkup_values){.name = NULL});
  else
    spate_doctor_judge_phy(checkup->doctor, &watched.phy, numbers);
  if (watched.phy.up && error == SPATE_E_LINK_DOWN)
    spate_checkup_found(checkup, SPATE_DOCTOR_LINK_LATE, (struct checkup_values){.name = NULL});
}

static void tell_window(const struct spate_checkup *checkup, const struct spate_pcie_window *window, const char *kind) {
  if (window->bytes != 0)
    spate_checkup_fact(
        checkup, "window", NULL, "{n}: {0x} for the processor, {1x} on the bus, {2b}",
        (struct checkup_values){.numbers = {window->cpu_address, window->bus_address, window->bytes}, .name = kind});
}

static uint64_t number_of(struct spate_pcie_address at) {
  return (uint64_t)at.bus << 8 | (uint64_t)at.device << 3 | at.function;
}

/* Errors that no judgement below explains. */
static void judge_error(struct spate_checkup *checkup, enum spate_error error) {
  switch (error) {
  case SPATE_OK:
  case SPATE_E_LINK_DOWN:
  case SPATE_E_NO_DEVICE:
  case SPATE_E_WRONG_CLASS: return;
  case SPATE_E_NO_BRIDGE:
    spate_checkup_found(checkup, SPATE_DOCTOR_NO_BRIDGE, (struct checkup_values){.name = NULL});
    return;
  default: spate_checkup_found(checkup, SPATE_DOCTOR_NOT_ENUMERATED, (struct checkup_values){.numbers = {error}});
  }
}

bool spate_checkup_bridge(struct spate_checkup *checkup) {
  const struct spate_checkup_config *config = checkup->config;
  struct spate_pcie_host *host = config->host;
  enum spate_error error = SPATE_OK;

  if (config->open != NULL) {
    /* On some devices an access to logic that is not loaded never ends: then this is the last line. */
    spate_checkup_fact(checkup, "bridge", NULL, "opening it", (struct checkup_values){.name = NULL});
    error = config->open(config->open_context, host);
  }
  spate_checkup_fact(checkup, "bridge", NULL, error == SPATE_OK ? "{n}: {0|bridge}, {1|device}, {2} left out" : "{n}",
                     (struct checkup_values){.numbers = {host->bridge_count, host->device_count, host->left_out},
                                             .name = spate_error_name(error)});
  judge_error(checkup, error);
  if (error == SPATE_E_INVALID || error == SPATE_E_NO_BRIDGE || host->ops == NULL) return false;
  look_at_link(checkup, error);
  tell_window(checkup, &host->memory, "memory");
  tell_window(checkup, &host->prefetchable, "prefetchable");
  if (host->left_out != 0 && error == SPATE_OK)
    spate_checkup_found(checkup, SPATE_DOCTOR_LEFT_OUT,
                        (struct checkup_values){.numbers = {host->left_out, number_of(host->failed_at)}});
  if (error == SPATE_E_LINK_DOWN && checkup->doctor->worst < SPATE_DOCTOR_ERROR) {
    spate_checkup_ports(checkup);
    if (checkup->doctor->worst < SPATE_DOCTOR_ERROR)
      spate_checkup_found(checkup, SPATE_DOCTOR_LINK_DOWN, (struct checkup_values){.name = NULL});
  }
  return error == SPATE_OK || error == SPATE_E_NO_DEVICE;
}
