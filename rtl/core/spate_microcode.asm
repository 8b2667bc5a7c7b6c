// SPDX-License-Identifier: Apache-2.0
//
// The program of spate_admin: everything that is not the data path. tools/rtl/microcode.py checks it and makes of it
// generated/spate_microcode.sv (`make generate`). docs/understand/gateware.md says how to read and change it.
//
// Any error (`fail`, or a register access that failed) drops all calls and goes to the label of the last `catch`:
// `failed` during bring-up, `recover` later. Section numbers are those of the NVM Express base specification 1.4.
//
// Guarantee: every loop that waits for the drive or the link has a deadline.

// ---- parameters of the module, and what is computed from them when the design is elaborated ----

parameter logic [63:0] WindowBase = 64'h8000_0000
parameter int unsigned WindowBits = CtrlBits + 1
parameter logic [63:0] BarBase = 64'he000_0000
parameter int unsigned QueueShiftMax = 7
parameter int unsigned CommandSectorsLimit = CommandSectorsMax
parameter bit XilinxBridge = 1'b1
parameter int unsigned PerstMs = 2
parameter int unsigned HealthMs = 1000
parameter int unsigned DeadlineMs = 8000

localparam logic [31:0] BarLast = BarBase[31:0] + BarWindowBytes - 32'd1
localparam logic [31:0] BridgeWindow = {BarLast[31:20], 4'h0, BarBase[31:20], 4'h0}
localparam bit Limited = CommandSectorsLimit < CommandSectorsMax
localparam int unsigned SectorsMax = Limited ? CommandSectorsLimit : CommandSectorsMax

// ---- times and counts ----

constant AdapterMs = 4                      // until the adapter shows the link's real state
// From link-up to the first access to the device (PCI Express base specification 4.0, 6.6.1).
constant TrainedWaitMs = 100
constant LinkMs = 1000
// A root port reports a link as up until Recovery has timed out: 24 ms after the other end became silent, or more if it
// tries again.
constant LinkFallMs = 200
constant LinkReturnMs = 2000                // of a link that was up before
constant DeviceMs = 1000                    // for configuration retry
constant QuietMs = 100
constant PollMs = 100                       // between two reads of CSTS
constant RetryMs = 4                        // before a command that may succeed later is tried again
constant AdminRetries = 3
constant SideRetries = 7
constant AttemptsMax = 3
constant RerunsMax = 3
constant FormatMs = 0x0100_0000             // more than four hours

// ---- offsets and bits: configuration space (PCI Express base specification 4.0, 7.5.1) ----

constant CfgId = 0x00 in SpaceDevice
constant CfgCommand = 0x04 in SpaceLocal or SpaceDevice
constant CfgClass = 0x08 in SpaceDevice
constant CfgHeader = 0x0c in SpaceDevice
constant CfgBar0 = 0x10 in SpaceDevice
constant CfgBar1 = 0x14 in SpaceDevice
constant CfgBuses = 0x18 in SpaceLocal      // of a root port, as the next three
constant CfgMemory = 0x20 in SpaceLocal
constant CfgPrefetch = 0x24 in SpaceLocal
constant CfgBridgeControl = 0x3c in SpaceLocal
constant CfgCapabilities = 0x34 in SpaceLocal or SpaceDevice
constant CfgBridgeEnable = 0x148 in SpaceLocal // PG194: the bridge's own register

constant VendorBits = 0xffff                // of CfgId
constant RetryVendor = 0x0001               // returned by a read of CfgId while the device asks for a retry (2.3.2)
constant CommandQuiet = 0x0400              // no INTx, no memory space, no bus master
constant CommandMemory = 0x0402
constant CommandMaster = 0x0406
constant ClassNvmeHigh = 0x0001_0000        // the class code is 010802h
constant ClassNvmeLow = 0x0802
constant HeaderLayout = 0x007f_0000         // zero: a function that is no bridge
constant BarRefused = 0x0003                // an I/O BAR, or one below 1 MiB
constant Bar64 = 0x0004
constant SizeUnits = 0x1000_0000            // 2^32 bytes, in the BAR's units of 16 bytes
constant BusNumbers = 0x0001_0100           // primary 0, secondary 1, subordinate 1
constant NoWindow = 0xfff0                  // base above limit
constant BusReset = 0x0040_0000             // Secondary Bus Reset, in the upper half of CfgBridgeControl
constant BridgeEnable = 0x0001

constant CapabilityExpress = 0x10           // its identifier, and offsets in it (7.5.3)
constant CapabilitiesMax = 48               // in 192 bytes; ends a list that has a loop
constant ExpressVersion = 0x000e_0000       // bits 3:1 of the version: zero in version 1
constant ExpressDevice = 0x04               // Device Capabilities
constant ExpressControl = 0x08              // Device Control, and its status in the upper half
constant ExpressLink = 0x10                 // Link Control, and its status in the upper half
constant ExpressControl2 = 0x28
constant PayloadBits = 0x0007               // of Device Capabilities
constant ExtendedTag = 0x0020               // of Device Capabilities; Device Control has it 3 bits higher
constant ReadSize512 = 0x2000               // of Device Control

// ---- the controller's registers (3.1) ----

constant RegCapLow = 0x00 in SpaceBar
constant RegCapHigh = 0x04 in SpaceBar
constant RegVs = 0x08 in SpaceBar
constant RegIntms = 0x0c in SpaceBar
constant RegCc = 0x14 in SpaceBar
constant RegCsts = 0x1c in SpaceBar
constant RegAqa = 0x24 in SpaceBar
constant RegAsqLow = 0x28 in SpaceBar
constant RegAsqHigh = 0x2c in SpaceBar
constant RegAcqLow = 0x30 in SpaceBar
constant RegAcqHigh = 0x34 in SpaceBar
constant RegDoorbells = 0x1000 in SpaceBar

constant CapMqes = 0xffff                   // of the lower half
constant CapTo = 0xff00                     // bits 31:24 of the lower half, after a shift by 16
constant CapNvm = 0x0020                    // bit 37: the NVM command set
constant CapMpsmin = 0x000f_0000            // bits 51:48: zero if pages of 4 KiB are possible
constant CapDstrd = 0x000f                  // bits 35:32
constant Version1 = 0x0001_0000
constant CcEn = 0x0001
constant CcEnabled = 0x0046_0001            // entries of 64 and 16 bytes, EN
constant CcShutdown = 0x0046_4001           // and a normal shutdown notification
constant CcHigh = 0xff00_0000               // reserved: zero when read
constant CstsRdy = 0x0001
constant CstsCfs = 0x0002
constant CstsShst = 0x000c
constant CstsShutDown = 0x0008
constant Aqa = 0x0003_0003                  // both admin queues have 4 entries
constant AdminTailMask = 3
constant AdminEntryValid = 4                // in `out admin_entry`

// ---- Identify Controller (5.15.2.2, figure 247): offsets in bytes ----

constant IdController = 1                   // CNS
constant IdSn = 4
constant IdSnBytes = 20
constant IdMdts = 77
constant IdRtd3e = 88
constant IdOacs = 256
constant IdApsta = 265
constant IdHmpre = 272
constant IdSanicap = 328
// And CQES: required size in the low half, maximum in the high half of each byte
constant IdSqes = 512
constant IdOncs = 520
constant IdVwc = 525

constant OacsFormat = 0x0002
constant OncsDeallocate = 0x0004
constant SanicapMethods = 0x0007
constant VwcPresent = 1 << (IdVwc % 4 * 8)
constant ApstaSupported = 1 << (IdApsta % 4 * 8)
constant PageSectorsMin = 8                 // 4 KiB, in which MDTS counts

// ---- Identify Namespace (5.15.2.1, figures 245 and 246), and the list of namespaces (5.15.2.3) ----

constant IdNamespaceList = 2
constant NsNsze = 0
constant NsFlbas = 26
constant NsNguid = 104                      // EUI64 follows
constant NsNguidBytes = 24
constant NsLbaf0 = 128
constant LbafMs = 0xffff                    // of a format
constant LbadsBits = 0x00ff                 // of a format's upper half
constant Lbads512 = 9
constant Lbads4096 = 12
constant BlocksHighLimit = 0x0100           // 2^40 blocks

// ---- log pages: SMART / Health Information (5.14.1.2, figure 194), Sanitize Status (5.14.1.16.2) ----

constant GetHealth = 0x007f_0002            // 512 bytes of log page 02h
constant GetSanitize = 0x007f_0081          // 512 bytes of log page 81h
constant HealthWarning = 0                  // critical warning, temperature, available spare
constant HealthThreshold = 4                // available spare threshold, percentage used
constant HealthPowerCycles = 112
constant HealthUnsafeShutdowns = 144
constant HealthMediaErrors = 160
constant SanitizeSstat = 2                  // of the sanitize log
constant SstatBits = 0x0007
constant SstatDone = 1
constant SstatRunning = 2
constant SstatDoneNoDeallocate = 4

// ---- opcodes (chapters 5 and 6), features (5.21.1), statuses (figures 126 to 131) ----

constant AdminDeleteSq = 0x00
constant AdminCreateSq = 0x01
constant AdminGetLog = 0x02
constant AdminDeleteCq = 0x04
constant AdminCreateCq = 0x05
constant AdminIdentify = 0x06
constant AdminSetFeatures = 0x09
constant AdminAsyncEvent = 0x0c             // does not complete until an event occurs
constant AdminNamespaces = 0x0d             // these three change the namespace without the core's knowledge
constant AdminAttach = 0x15
constant AdminFormat = 0x80
constant AdminSanitize = 0x84
constant NvmFlush = 0x00
constant NvmWrite = 0x01
constant NvmRead = 0x02
constant NvmDatasets = 0x09
// Bits of an opcode that are zero in 0, 1, 4 and 5: commands that create or delete queues.
constant NotQueues = 0x00fa
constant OpcodeBits = 0x00ff
constant OpcodeData = 0x0003                // bits of an opcode: it transfers data
constant FeatureQueues = 0x07
constant FeatureApst = 0x0c
constant FeatureHostBuffer = 0x0d
constant Contiguous = 0x0001                // dword 11 of a command that creates a queue; no interrupts
constant SqOfCq1 = 0x0001_0001              // contiguous, with completion queue 1
constant Deallocate = 0x0004                // dword 11 of Dataset Management
constant Fua = 0x4000_0000                  // dword 12 of a write
constant StatusBits = 0x7fff
constant StatusCode = 0x07ff
constant DoNotRetry = 0x4000
constant SanitizeFailed = 0x001c
constant SanitizeRunning = 0x001d

// ---- words of our own ----

constant OpBits = 0x000f                    // of `command`
constant SourceBits = 0x0030
constant SourceIsMailbox = SourceMailbox << 4
constant CommandFua = 0x0040
constant LbaTooLarge = 0x0080
constant LbaHigh = 0x00ff                   // of `command` after a shift by 8
constant FeatureCache = 1                   // of `features`: volatile cache
constant FeatureFormat = 2
constant FeatureDeallocate = 4
constant FeatureSanitize = 8
constant CidOne = 0x0001_0000               // of `cid`
constant CidBits = 0x80ff_0000
constant CidEpoch = 0x8000_0000             // alternates, so that a completion of an earlier epoch is recognised
constant CidSide = 0x0100_0000
constant UpperHalf = 0xffff_0000
constant LowerHalf = 0xffff
// Flags of `reruns`. JustBringUp: only the bring-up after the command is repeated, not the command. AnyDrive: the
// bring-up may find another drive, or the same one with another block format.
constant JustBringUp = 0x0080
constant AnyDrive = 0x0100
constant RerunsCount = 0x00ff               // `reruns` without AnyDrive

// ---- registers ----
//
// A call may overwrite a scratch register. Where two names share a register, the assembler checks that no read meets
// the other's value.

scratch  value = r0                         // a value that was read; the detail of an error
scratch  temp = r1
scratch  other = r2
scratch  pointer = r3
scratch  count = r4
register link_deadline = r5
register poll_at = r6
register health_at = r7
// Bring-ups and recoveries since a command ended or the drive was healthy for 100 ms.
register attempts = r8
register reruns = r9                        // how often the current side command was started, and two flags
register retries = r10                      // left
register cid = r11                          // of the last admin or side command, in the upper half
register admin_tail = r12
register admin_head = r13
register head_doorbell = r14 in SpaceBar    // the admin completion queue's
register window = r15                       // lower 32 bits of this epoch's half of the aperture
register timeout_ms = r16                   // CAP.TO
// Hash of the identity of the drive before the bring-up; zero: any drive is accepted.
register known = r17
register sectors_max = r18                  // of a command
register queue_entries = r19
register features = r20                     // Feature… of the drive
register nsid = r21
register blocks_low = r22
register blocks_high = r23
register mailbox_blocks = r24               // a page, in blocks
register opcode = r25
scratch  status = r26
register done_low = r27
register done_high = r28
register shutdown_ms = r29
register admin_ms = r30                     // deadline of an admin command
register error = r31                        // `fail` writes it

// Each wait has a deadline of its own name, so that a wait whose deadline is not armed is found.
register fall_deadline = r5 shares link_deadline
register device_deadline = r5 shares link_deadline
register quiet_deadline = r5 shares link_deadline
register disable_deadline = r5 shares link_deadline
register enable_deadline = r5 shares link_deadline
register admin_deadline = r5 shares link_deadline
register side_deadline = r5 shares link_deadline
register drain_deadline = r5 shares link_deadline
register shutdown_deadline = r5 shares link_deadline
register give_up_deadline = r5 shares link_deadline

// Bring-up uses these before side commands use the others.
register device_capabilities = r2 shares other
register mark = r2 shares other             // hash of the drive's identity, as far as it was read
register bar = r3 shares pointer            // the BAR, before it was written
register device_control = r18 shares sectors_max
register bar_units = r26 shares status      // size of the BAR in 16 bytes
register device_express = r27 shares done_low in SpaceDevice // the device's PCI Express capability
register root_express = r28 shares done_high in SpaceLocal // the root port's
register apsta = r27 shares done_low
register host_buffer = r28 shares done_high // HMPRE

// Side commands.
register operation = r2 shares other        // of `command`
register refusal = r2 shares other          // the status of what could not be done before a shutdown

// ---- steps: what is done | bounded by ----

step StepDisabled = 0 | disabled: `enable` is low, PERST# held |
step StepPerst = 1 | PERST# low for 2 ms, and until the link is seen to be down; the root port resets its bus for as \
    long | 200 ms for the link
step StepLink = 2 | wait for the link | 1 s; 2 s for one that was up
step StepRootPort = 3 | root port: bridge enabled, bus numbers, memory window, command register; then 100 ms for the \
    device |
step StepDevice = 4 | first configuration read, with retry; class and header | 1 s
step StepBar = 5 | BAR 0: type, size, address |
step StepCapabilities = 6 | PCI Express capabilities: payload size, read size, no relaxed ordering, completion \
    timeouts; link status |
step StepController = 7 | CAP and VS |
step StepDisable = 8 | interrupts masked, controller disabled; then AQA, ASQ and ACQ read: did the drive lose power? | \
    CAP.TO
step StepQuiet = 9 | wait until no old access is under way | 100 ms
step StepEnable = 10 | queues begin again in the other epoch; bus master; admin queue; CC.EN | CAP.TO
step StepIdentifyController = 11 | Identify controller | the admin deadline, as all below
step StepNamespaceList = 12 | list of namespaces; the first is taken |
step StepFeatures = 13 | features: no power state changes, no host memory buffer, one queue pair |
step StepIdentifyNamespace = 14 | Identify namespace |
step StepQueues = 15 | I/O queues created |
step StepHealth = 16 | SMART log read |
step StepReady = 17 | ready |
step StepRecovery = 18 | recovery: controller stopped; then AQA, ASQ and ACQ read | CAP.TO
step StepShutdown = 19 | shutdown: flush, queues deleted, notification | RTD3E and the admin deadline

// ---- errors: meaning | detail | what to do ----

error ErrNone = 0 | none |  |
error ErrAccess = 1 | a register or configuration access failed, or timed out |  | look at the step: 3 the \
    bridge's control port, 4 to 6 the device's configuration space, from 7 on the BAR's address
error ErrLink = 2 | the link did not come up |  | reference clock, PERST# wiring, lanes, power
error ErrNoDevice = 3 | no device responded | its identifier | as 2; a drive that needs more than a second is defective
error ErrClass = 4 | not an NVMe controller | class and revision | another device is in the slot
error ErrHeader = 5 | not a plain function | header dword | a bridge or switch is in between: not supported
error ErrBarType = 6 | BAR 0 is no memory BAR | BAR |
error ErrBarSize = 7 | BAR 0 is larger than its window, or too small for the doorbells | size in 16 bytes | the window \
    has 1 MiB; a drive with a larger BAR 0 is not supported by the tops
error ErrCapability = 8 | no PCI Express capability |  |
error ErrVersion = 9 | version below 1.0 | VS | reads as zero or ones: the BAR is not reached
error ErrCommandSet = 10 | no NVM command set | CAP, upper half |
error ErrPageSize = 11 | pages of 4 KiB are not possible | CAP, upper half |
error ErrQueueSize = 12 | queues of one entry | entries | CAP reads as zero: the BAR is not reached
error ErrDisable = 13 | the controller did not stop | CSTS |
error ErrQuiet = 14 | accesses of the drive did not end |  | the adapter, or the memory
error ErrEnable = 15 | the controller did not get ready | CSTS |
error ErrFatal = 16 | fatal status | CSTS | all ones: the drive vanished
error ErrAdminDeadline = 17 | an admin command did not complete in time | its opcode | does the drive reach the window? Bus \
    master, `WindowBase`
error ErrIdentify = 18 | Identify failed | status |
error ErrEntrySize = 19 | entries are not 64 and 16 bytes | SQES, CQES | zero: what the drive writes does not arrive
error ErrNoNamespace = 20 | no namespace, or an empty one |  | create one on a PC
error ErrBlockSize = 21 | blocks are neither 512 nor 4096 bytes | format | format it on a PC: the core has given it up
error ErrMetadata = 22 | blocks have metadata | format | format it on a PC, without metadata
error ErrTooLarge = 23 | 2^40 blocks or more | upper dword |
error ErrFeatures = 24 | the number of queues was refused | status |
error ErrCreateQueue = 25 | a queue could not be created | status |
error ErrLinkLost = 26 | the link went down |  |
error ErrDataPath = 27 | a data command's deadline, a doorbell write without a response, or a link that was down for a \
    moment |  |
error ErrSideDeadline = 28 | a side command did not complete in time | its opcode |
error ErrShutDown = 29 | shut down, as asked | CSTS |
error ErrShutdownDeadline = 30 | shut down, but the drive did not say that it finished | CSTS |
error ErrOtherDrive = 31 | another drive, or namespace, than before the recovery |  | put the old one in again, or \
    restart: what waited has ended with StatusGone

chapter from PERST# to a function with a BAR

        move    cid, 0
        move    reruns, 0
        move    known, 0
        wide    window, WindowBase[31:0]
        jump    enabled, start

disabled:
        enter   StepDisabled
        call    give_up
disabled_wait:
        endless until `enable`; commands are refused meanwhile
        out     gone, 1                     // repeated while `enable` is high: clears the memory that `enable` was low
        jump    enabled, start
        jump    no_command, disabled_wait
        jump    refuse

start:
        jump    not_gone, same_drive
        move    known, 0
same_drive:
        out     gone, 0
        move    attempts, 0
handler perst:
        enter   StepPerst
        out     power, PowerReset
        move    error, ErrAccess
        catch   failed
        out     health_valid, 0
        out     ready, 0
        out     push, 0
        out     perst, 0
        // Reset the root port's secondary bus as well, because the logic may not control PERST#.
        jump    link_down, hold
        catch   hold
        out     space, SpaceLocal
        read    temp, CfgBridgeControl
        test    temp, BusReset
        jump    not_zero, hold
        add     temp, BusReset
        write   CfgBridgeControl, temp
hold:
        catch   failed
        out     adapter_reset, 1
        move    temp, PerstMs
        call    delay
        out     adapter_reset, 0
        move    temp, AdapterMs
        call    delay
        // A link that is still up is the one from before the reset.
        arm     fall_deadline, LinkFallMs
link_fall:
        jump    link_down, release
        compare fall_deadline, now
        jump    not_negative, link_fall
release:
        catch   released
        out     space, SpaceLocal
        read    temp, CfgBridgeControl
        test    temp, BusReset
        jump    zero, released
        sub     temp, BusReset
        write   CfgBridgeControl, temp
released:
        catch   failed
        out     perst, 1
        arm     link_deadline, LinkMs

link_wait:                                  // until `link_deadline`
        enter   StepLink
link_poll:
        jump    link_up, root_port
        fail    disabled, ErrLink
        compare link_deadline, now
        fail    negative, ErrLink
        jump    link_poll

root_port:
        enter   StepRootPort
        out     space, SpaceLocal
        jump    when(!XilinxBridge), buses
        read    value, CfgBridgeEnable
        test    value, BridgeEnable
        jump    not_zero, bridge_enabled
        add     value, BridgeEnable
bridge_enabled:
        write   CfgBridgeEnable, value
buses:
        wide    value, BusNumbers
        write   CfgBuses, value
        wide    value, BridgeWindow
        write   CfgMemory, value
        move    value, NoWindow
        write   CfgPrefetch, value
        move    value, CommandMaster
        write   CfgCommand, value

        move    temp, TrainedWaitMs
        call    delay

        // A device that is still starting responds with a retry status, which bridges show in different ways.
        enter   StepDevice
        out     space, SpaceDevice
        arm     device_deadline, DeviceMs
        catch   probe_again
probe:
        read    value, CfgId
        move    temp, value
        and     temp, VendorBits
        jump    zero, probe_again
        compare temp, RetryVendor
        jump    zero, probe_again
        compare temp, VendorBits            // all ones: nobody responded
        jump    not_zero, device
probe_again:
        catch   failed
        fail    link_down, ErrLinkLost
        compare device_deadline, now
        fail    negative, ErrNoDevice
        move    temp, 1
        call    delay
        catch   probe_again
        jump    probe

device:
        catch   failed
        read    value, CfgClass
        move    temp, value
        shift   temp, 8
        sub     temp, ClassNvmeHigh
        compare temp, ClassNvmeLow
        fail    not_zero, ErrClass
        read    value, CfgHeader
        test    value, HeaderLayout
        fail    not_zero, ErrHeader

        // Units of 16 bytes make a BAR's size fit and drop the type bits.
        enter   StepBar
        move    value, CommandQuiet
        write   CfgCommand, value
        read    value, CfgBar0
        move    bar, value
        test    value, BarRefused
        fail    not_zero, ErrBarType
        move    temp, 0
        sub     temp, 1                     // all ones
        write   CfgBar0, temp
        read    temp, CfgBar0
        shift   temp, 4
        move    bar_units, SizeUnits
        sub     bar_units, temp
        move    value, bar_units
        move    temp, BarWindowBytes >> 4
        compare temp, bar_units
        fail    carry, ErrBarSize
        wide    temp, BarBase[31:0]
        write   CfgBar0, temp
        test    bar, Bar64
        jump    zero, bar_done
        wide    temp, BarBase[63:32]
        write   CfgBar1, temp
bar_done:

        // Both ends get the smaller of their payload sizes, read requests of 512 bytes, no relaxed ordering and no
        // no-snoop. Both wait for completions for 50 ms at most, which is less than spate_mmio waits.
        enter   StepCapabilities
        call    find_capability
        fail    zero, ErrCapability
        call    timeout
        move    device_express, pointer
        add     pointer, ExpressDevice
        read    device_capabilities, pointer
        add     pointer, ExpressLink - ExpressDevice
        read    value, pointer
        shift   value, 16                   // Link Status
        out     link_status, value
        out     space, SpaceLocal
        move    device_control, 0
        call    find_capability
        jump    zero, no_root_capability
        holds temp, find_capability has read it where the zero flag is clear
        call    timeout
        move    root_express, pointer
        add     pointer, ExpressDevice
        read    device_control, pointer
        and     device_control, PayloadBits
no_root_capability:
        move    temp, device_capabilities
        and     temp, PayloadBits
        compare temp, device_control
        jump    not_carry, payload
        move    device_control, temp
payload:
        add     device_control, device_control// Max_Payload_Size is bits 7:5
        add     device_control, device_control
        add     device_control, device_control
        add     device_control, device_control
        add     device_control, device_control
        add     device_control, ReadSize512
        test    pointer, LowerHalf          // of the root port; without the capability there is nothing to set
        jump    zero, controller
        holds root_express, `pointer` is zero where it was not written
        add     root_express, ExpressControl
        write   root_express, device_control

controller:
        out     space, SpaceDevice
        and     device_capabilities, ExtendedTag
        add     device_capabilities, device_capabilities
        add     device_capabilities, device_capabilities
        add     device_capabilities, device_capabilities
        add     device_control, device_capabilities
        add     device_express, ExpressControl
        write   device_express, device_control
        move    value, CommandMemory
        write   CfgCommand, value

chapter from the controller's registers to an admin queue

        enter   StepController
        out     space, SpaceBar
        read    value, RegCapLow
        out     cap_low, value
        move    queue_entries, value
        and     queue_entries, CapMqes
        add     queue_entries, 1
        move    timeout_ms, value           // in units of 500 ms, treated as 512 ms
        shift   timeout_ms, 16
        and     timeout_ms, CapTo
        add     timeout_ms, timeout_ms
        add     timeout_ms, 512
        read    value, RegCapHigh
        test    value, CapNvm
        fail    zero, ErrCommandSet
        test    value, CapMpsmin
        fail    not_zero, ErrPageSize
        and     value, CapDstrd
        out     stride, value
        move    head_doorbell, 4
stride:
        sub     value, 1
        jump    carry, stride_done
        add     head_doorbell, head_doorbell
        jump    stride
stride_done:
        move    temp, head_doorbell         // four doorbells, in 16 bytes
        shift   temp, 2
        add     temp, RegDoorbells >> 4
        add     head_doorbell, RegDoorbells
        move    value, bar_units
        compare bar_units, temp
        fail    carry, ErrBarSize
        read    value, RegVs
        compare value, Version1
        fail    carry, ErrVersion
        move    value, queue_entries
        move    count, QueueShiftMax
        move    temp, 1 << QueueShiftMax
queue_shift:
        bounded `temp` becomes zero, and no number of entries is below zero
        compare queue_entries, temp
        jump    not_carry, queue_shift_done
        shift   temp, 1
        sub     count, 1
        jump    queue_shift
queue_shift_done:
        move    queue_entries, temp
        out     queue_shift, count
        test    count, LowerHalf
        fail    zero, ErrQueueSize

        enter   StepDisable
        move    temp, 0
        sub     temp, 1                     // all ones
        write   RegIntms, temp
        call    disable_controller

        // The reads above pushed the drive's writes. Writes that arrive from now on are of the old epoch.
        enter   StepQuiet
        arm     quiet_deadline, QuietMs
quiet_poll:
        jump    quiet, queues_reset
        compare quiet_deadline, now
        fail    negative, ErrQuiet
        jump    quiet_poll
queues_reset:
        xor     window, bit(WindowBits - 1)
        xor     cid, CidEpoch
        move    admin_ms, DeadlineMs
        move    admin_tail, 0
        move    admin_head, 0
        out     admin_entry, 0
        out     pulse, PulseQueues | PulseForget
        out     space, SpaceDevice
        move    value, CommandMaster
        write   CfgCommand, value
        out     space, SpaceBar

        enter   StepEnable
        wide    temp, Aqa
        write   RegAqa, temp
        move    temp, window
        write   RegAsqLow, temp
        add     temp, OffsetAdminCq
        write   RegAcqLow, temp
        wide    temp, WindowBase[63:32]
        write   RegAsqHigh, temp
        write   RegAcqHigh, temp
        wide    temp, CcEnabled
        write   RegCc, temp
        out     power, PowerWritten
        arm     enable_deadline, timeout_ms
        arm     poll_at, PollMs
enable_poll:
        read    value, RegCsts
        test    value, CstsCfs
        fail    not_zero, ErrFatal
        test    value, CstsRdy
        jump    not_zero, identify_controller
        compare enable_deadline, now
        fail    negative, ErrEnable
        fail    link_down, ErrLinkLost
        move    temp, 0
        call    delay
        jump    enable_poll

chapter Identify; features; the I/O queues

identify_controller:
        enter   StepIdentifyController
        call    admin_clear
        entry   10, IdController
        call    admin_identify
        fail    not_zero, ErrIdentify
        page    value, IdSqes / 4           // SQES, then CQES: bits 3:0 the required size, 7:4 the maximum; log2
        move    temp, value
        and     temp, 0x000f
        compare temp, 6 + 1                 // at most 64 bytes required
        fail    not_carry, ErrEntrySize
        move    temp, value
        and     temp, 0x00f0
        compare temp, 6 << 4                // and possible
        fail    carry, ErrEntrySize
        move    temp, value
        and     temp, 0x0f00
        compare temp, (4 + 1) << 8          // at most 16 bytes required
        fail    not_carry, ErrEntrySize
        move    temp, value
        and     temp, 0xf000
        compare temp, 4 << 12               // and possible
        fail    carry, ErrEntrySize

        move    mark, 1
        move    pointer, IdSn / 4
        move    count, IdSnBytes / 4
        call    fold

        move    temp, SectorsMax
        page    count, IdMdts / 4           // log2 of pages of 4 KiB; zero: no limit
        shift   count, IdMdts % 4 * 8
        and     count, 0x00ff
        jump    zero, mdts_done
        move    temp, PageSectorsMin
mdts:
        compare temp, SectorsMax
        jump    not_carry, mdts_limit
        sub     count, 1
        jump    carry, mdts_done
        add     temp, temp
        jump    mdts
mdts_limit:
        move    temp, SectorsMax
mdts_done:
        move    sectors_max, temp

        page    shutdown_ms, IdRtd3e / 4    // in µs; DeadlineMs is added
        shift   shutdown_ms, 10
        add     shutdown_ms, DeadlineMs
        move    features, 0
        page    temp, IdVwc / 4
        test    temp, VwcPresent
        jump    zero, no_cache
        add     features, FeatureCache
no_cache:
        out     volatile_cache, features
        page    temp, IdOacs / 4
        test    temp, OacsFormat
        jump    zero, no_format
        add     features, FeatureFormat
no_format:
        page    temp, IdOncs / 4
        test    temp, OncsDeallocate
        jump    zero, no_deallocate
        add     features, FeatureDeallocate
no_deallocate:
        page    temp, IdSanicap / 4
        test    temp, SanicapMethods
        jump    zero, no_sanitize
        add     features, FeatureSanitize
no_sanitize:
        page    apsta, IdApsta / 4
        page    host_buffer, IdHmpre / 4

        // Controllers of version 1.0 do not have the list.
        enter   StepNamespaceList
        call    admin_clear
        entry   10, IdNamespaceList
        call    admin_identify
        jump    not_zero, namespace_one
        page    nsid, 0
        fail    zero, ErrNoNamespace
        jump    set_features
namespace_one:
        move    nsid, 1

// Power states and host memory buffer: if the drive refuses a change, it works without it.
set_features:
        out     nsid, nsid
        enter   StepFeatures
        move    opcode, AdminSetFeatures
        test    apsta, ApstaSupported
        jump    zero, no_power_states
        call    admin_clear
        entry   10, FeatureApst
        move    temp, OffsetAdminPage + 0x800// the end of the namespace list: zeros
        call    prp
        call    admin
no_power_states:
        test    host_buffer, LowerHalf
        jump    zero, no_host_buffer
        call    admin_clear
        entry   10, FeatureHostBuffer
        call    admin
no_host_buffer:
        call    admin_clear
        entry   10, FeatureQueues           // one queue pair: dword 11 is zero
        call    admin
        fail    not_zero, ErrFeatures

        enter   StepIdentifyNamespace
        call    admin_clear
        entry   1, nsid                     // dword 10 is zero: CNS 00h
        call    admin_identify
        fail    not_zero, ErrIdentify
        page    blocks_low, NsNsze / 4
        page    blocks_high, NsNsze / 4 + 1
        move    value, blocks_high
        compare value, BlocksHighLimit
        fail    not_carry, ErrTooLarge
        move    pointer, NsNsze / 4
        move    count, 2
        call    fold
        move    pointer, NsNguid / 4        // and EUI64
        move    count, NsNguidBytes / 4
        call    fold
        page    temp, NsFlbas / 4           // bits 3:0, and 6:5 above them (2.0, figure 97): the index of the format
        shift   temp, NsFlbas % 4 * 8
        move    pointer, temp
        and     pointer, 0x000f
        shift   temp, 1
        and     temp, 0x0030
        add     pointer, temp
        add     pointer, NsLbaf0 / 4
        page    value, pointer
        test    value, LbafMs
        fail    not_zero, ErrMetadata
        move    temp, value
        shift   temp, 16
        and     temp, LbadsBits
        compare temp, Lbads4096
        jump    zero, block_4096
        compare temp, Lbads512
        fail    not_zero, ErrBlockSize
        move    mailbox_blocks, 8
        jump    block_done
block_4096:
        move    mailbox_blocks, 1
        and     sectors_max, 0xfff8         // whole blocks
block_done:
        move    temp, blocks_low
        shift   temp, 1
        add     temp, blocks_high           // not zero unless there is at most one block
        fail    zero, ErrNoNamespace

        // Another drive must not get the commands that wait: they would destroy its data, and its block size may
        // differ.
        move    count, 1                    // `pointer` is still at the block's format
        call    fold
        move    temp, known
        jump    zero, new_drive
        compare temp, mark
        jump    zero, new_drive
        test    reruns, AnyDrive
        fail    zero, ErrOtherDrive
        out     gone, 1                     // makes all modules end the commands of the drive before
        out     gone, 0
new_drive:
        and     reruns, RerunsCount
        move    known, mark
        out     blocks_low, blocks_low
        out     blocks_high, blocks_high
        out     block4096, mailbox_blocks   // 1 or 8: bit 0 tells
        out     sectors_max, sectors_max

        enter   StepQueues
        // Dword 10: entries - 1 in the upper half, the queue's identifier 1 in the lower
        move    count, queue_entries
        sub     count, 1
        move    pointer, 16
queue_size:
        add     count, count
        sub     pointer, 1
        jump    not_zero, queue_size
        add     count, 1
        call    admin_clear
        move    opcode, AdminCreateCq
        entry   10, count
        entry   11, Contiguous
        move    temp, OffsetCq
        call    prp
        call    admin
        fail    not_zero, ErrCreateQueue
        call    admin_clear
        move    opcode, AdminCreateSq
        entry   10, count
        wide    temp, SqOfCq1
        entry   11, temp
        move    temp, OffsetSq
        call    prp
        call    admin
        fail    not_zero, ErrCreateQueue

        // The log is read before `ready`: it is known whether power was lost before any later command.
        enter   StepHealth
        call    health
        enter   StepReady
        catch   recover
        out     pulse, PulseForget
        arm     poll_at, PollMs
        out     ready, 1

chapter ready, recovering, gone

idle:
        jump    gone, gone_wait
ready:
        endless serves commands until the drive fails
        call    watch
        compare health_at, now
        jump    not_negative, command
        call    health
command:
        jump    command, dispatch
        jump    ready

handler recover:
        out     error, error
        out     detail, any value           // not every error has one
rebuild:
        move    error, ErrAccess
        out     health_valid, 0
        out     ready, 0
        out     push, 0
        out     pulse, PulseRecovery
        jump    disabled, disabled
        enter   StepRecovery
        // A command that makes the drive fail becomes the oldest in the end, and spate_deadline then ends it.
        jump    no_progress, no_progress
        move    attempts, 0
no_progress:
        add     attempts, 1
        compare attempts, AttemptsMax + 1
        jump    not_carry, gone
        jump    link_down, relink
        // The controller is stopped while it can still finish its accesses. A controller that does not stop is reset.
        catch   perst
        out     space, SpaceBar
        call    disable_controller
        out     space, SpaceDevice
        move    value, CommandMemory
        write   CfgCommand, value
relink:
        catch   failed
        jump    link_up, returned
        out     adapter_reset, 1
        move    temp, 0
        call    delay
        out     adapter_reset, 0
returned:
        arm     link_deadline, LinkReturnMs
        jump    link_wait

handler failed:
        out     error, error
        out     detail, any value           // not every error has one
        jump    disabled, disabled
        add     attempts, 1
        compare attempts, AttemptsMax
        jump    carry, perst
gone:
        call    give_up
gone_wait:
        endless until a restart command or a change of `enable`
        jump    disabled, disabled
        jump    no_command, gone_wait
        move    temp, command
        and     temp, OpBits
        compare temp, OpRestart
        jump    not_zero, refuse
        test    reruns, LowerHalf
        jump    not_zero, refuse            // this command was the restart, and it failed
        move    reruns, JustBringUp
        jump    start
refuse:
        move    done_low, 0
        move    done_high, 0
        move    status, StatusGone
        jump    respond

chapter side commands

ok:
        move    status, StatusOk
        jump    respond
invalid:
        move    status, StatusInvalid
        jump    respond
unsupported:
        move    status, StatusUnsupported
        jump    respond
lost:
        move    status, StatusDeadline
respond:
        out     done, done_high
        out     done, done_low
        out     respond, status
        move    reruns, 0
        jump    idle

// A command that a reset interrupted still waits. It is started again if repeating it does no harm.
dispatch:
        move    done_low, 0
        move    done_high, 0
        add     reruns, 1
        compare reruns, JustBringUp + 1
        jump    zero, ok
        compare reruns, RerunsMax + 2
        jump    not_carry, lost
        move    operation, command
        and     operation, OpBits           // OpFlush is zero
        jump    zero, flush
        compare operation, OpWrite
        jump    zero, mailbox_write
        compare operation, OpRead
        jump    zero, mailbox_read
        compare operation, OpDeallocate
        jump    zero, deallocate
        compare operation, OpSanitize
        jump    zero, sanitize
        compare operation, OpShutdown
        jump    zero, shutdown
        compare reruns, 1
        jump    not_zero, lost
        compare operation, OpFormat
        jump    zero, format
        compare operation, OpRestart
        jump    zero, restart
        compare operation, OpRawAdmin
        jump    zero, raw_admin
        compare operation, OpRawIo
        jump    not_zero, invalid

        out     side, 1
        fill    raw
        call    raw_pages
        move    retries, 0
        call    side
        move    done_low, side_result
        jump    respond

raw_admin:
        move    opcode, raw
        and     opcode, NotQueues
        jump    zero, invalid
        out     side, 0
        fill    raw
        call    raw_pages
        compare opcode, AdminAsyncEvent
        jump    zero, invalid
        compare opcode, AdminNamespaces
        jump    zero, invalid
        compare opcode, AdminAttach
        jump    zero, invalid
        compare opcode, AdminFormat
        jump    zero, invalid
        call    admin_once
        move    done_low, admin_result
        jump    respond

flush:
        call    side_clear
        move    opcode, NvmFlush
        call    side
        jump    not_zero, respond
        move    done_low, written
        move    done_high, side_status
        shift   done_high, 24
// `status` is StatusOk. What had completed before a loss of power is not durable, although the drive has flushed.
durable:
        test    features, FeatureCache
        jump    zero, respond
        jump    told, respond
        out     power, PowerTold
        move    status, StatusPower
        jump    respond

mailbox_write:
        move    opcode, NvmWrite
        jump    transfer
mailbox_read:
        move    opcode, NvmRead
transfer:
        move    temp, command
        and     temp, SourceBits
        compare temp, SourceIsMailbox
        jump    not_zero, invalid
        move    temp, blocks
        compare mailbox_blocks, temp
        jump    carry, invalid
        call    check_range
        jump    not_zero, respond
        call    side_clear
        entry   10, lba
        move    other, command
        shift   other, 8
        and     other, LbaHigh
        entry   11, other
        move    temp, blocks
        sub     temp, 1
        move    other, command
        test    other, CommandFua
        jump    zero, no_fua
        add     temp, Fua
no_fua:
        entry   12, temp
        move    temp, OffsetMailbox
blocks_respond:
        call    prp
        call    side
        jump    not_zero, respond
        move    done_low, blocks
        jump    respond

deallocate:
        test    features, FeatureDeallocate
        jump    zero, unsupported
        call    check_range
        jump    not_zero, respond
        call    side_clear
        move    opcode, NvmDatasets
        entry   11, Deallocate
        move    temp, OffsetRange
        jump    blocks_respond

// The block size may change, so the drive is brought up again afterwards.
format:
        test    features, FeatureFormat
        jump    zero, unsupported
        call    drain
        jump    not_zero, respond
        // No command may begin meanwhile or be split with the old block size.
        out     ready, 0
        move    status, StatusBusy
        jump    idle, format_alone
format_end:
        out     ready, 1
        jump    respond
format_alone:
        call    admin_clear
        entry   1, nsid
        move    temp, command
        shift   temp, 16                    // the lower half of the address
        entry   10, temp
        move    opcode, AdminFormat
        move    admin_ms, FormatMs
        add     reruns, AnyDrive            // a format that a reset interrupted may have been carried out
        call    admin
        and     reruns, RerunsCount
        move    admin_ms, DeadlineMs
        test    status, LowerHalf
        jump    not_zero, format_end
        move    reruns, JustBringUp | AnyDrive
        jump    rebuild

// Commands that wait in the data path are for this drive only.
restart:
        move    reruns, JustBringUp | AnyDrive
        out     ready, 0
        out     pulse, PulseRecovery
        jump    idle, start
        move    reruns, JustBringUp
        jump    start

// A reset does not stop a sanitize operation: a repeated command ends with "sanitize in progress" (1Dh), and the
// program waits for the operation's end. The repetition is needed because only it tells whether the first command
// reached the drive: the log may be of an older operation that succeeded.
sanitize:
        test    features, FeatureSanitize
        jump    zero, unsupported
        call    drain
        jump    not_zero, respond
        call    admin_clear
        move    temp, command
        shift   temp, 16
        entry   10, temp
        move    opcode, AdminSanitize
        call    admin
        jump    zero, sanitize_poll
        move    temp, status
        and     temp, StatusCode
        compare temp, SanitizeRunning
        jump    not_zero, respond
sanitize_poll:
        endless a sanitize operation may take hours; `watch` ends the loop when the drive fails
        move    temp, PollMs
        call    delay
        call    watch
        call    admin_clear
        wide    temp, GetSanitize
        entry   10, temp
        move    opcode, AdminGetLog
        call    admin_page
        jump    not_zero, respond
        page    temp, SanitizeSstat / 4
        shift   temp, SanitizeSstat % 4 * 8
        and     temp, SstatBits
        compare temp, SstatRunning
        jump    zero, sanitize_poll
        compare temp, SstatDone
        jump    zero, ok
        compare temp, SstatDoneNoDeallocate
        jump    zero, ok
        move    status, SanitizeFailed      // sanitize failed, or there was no such operation
        jump    respond

shutdown:
        call    drain
        // The error of what could not be done before it; the drive is shut down nevertheless.
        move    refusal, status
        enter   StepShutdown
        test    features, FeatureCache
        jump    zero, shutdown_queues
        call    side_clear
        move    opcode, NvmFlush
        call    side
        jump    zero, shutdown_queues
        move    refusal, status
shutdown_queues:
        out     ready, 0
        call    admin_clear
        move    opcode, AdminDeleteSq
        entry   10, 1
        call    admin
        move    opcode, AdminDeleteCq
        call    admin
        wide    temp, CcShutdown
        write   RegCc, temp
        arm     shutdown_deadline, shutdown_ms
shutdown_poll:
        read    value, RegCsts
        move    temp, value
        and     temp, CstsShst
        move    status, ErrShutDown
        compare temp, CstsShutDown
        jump    zero, shutdown_end
        move    status, ErrShutdownDeadline
        compare shutdown_deadline, now
        jump    negative, shutdown_end
        move    temp, 0
        call    delay
        jump    shutdown_poll
shutdown_end:
        out     error, status
        out     detail, value               // CSTS
        call    give_up
        compare status, ErrShutDown
        jump    not_zero, lost
        out     power, PowerSafe
        move    status, refusal
        jump    zero, durable
        jump    respond

chapter routines

// An admin command. The caller writes dwords after admin_clear and sets `opcode`. `status` and the zero flag have
// the status.
routine admin_clear:
        out     side, 0
        fill    0
        return
routine admin_identify returns status, value, flags:
        move    opcode, AdminIdentify
        falls   admin_page
routine admin_page returns status, value, flags:
        move    temp, OffsetAdminPage
        call    prp
        falls   admin
routine admin returns status, value, flags:
        move    retries, AdminRetries
        jump    admin_try
routine admin_once returns status, value, flags:
        move    retries, 0
admin_try:
        add     cid, CidOne
        and     cid, CidBits
        move    temp, cid
        add     temp, opcode
        entry   0, temp
        move    temp, admin_tail
        add     temp, AdminEntryValid
        out     pulse, PulseAdminTaken
        out     admin_entry, temp
        add     admin_tail, 1
        and     admin_tail, AdminTailMask
        write   RegDoorbells, admin_tail
        arm     admin_deadline, admin_ms
admin_wait:
        jump    admin_done, admin_completion
admin_late:                                 // so that the deadline is met although such completions never stop
        call    watch
        move    value, opcode
        compare admin_deadline, now
        fail    negative, ErrAdminDeadline
        jump    admin_wait
admin_completion:
        move    status, admin_status
        out     pulse, PulseAdminTaken
        add     admin_head, 1
        and     admin_head, AdminTailMask
        write   head_doorbell, admin_head
        move    temp, status
        and     temp, UpperHalf
        compare temp, cid
        jump    not_zero, admin_late        // a completion of an earlier command: keep waiting
        and     status, StatusBits
        jump    zero, admin_return
        test    status, DoNotRetry
        jump    not_zero, admin_return
        sub     retries, 1
        jump    carry, admin_return
        move    temp, RetryMs
        call    delay
        jump    admin_try
admin_return:
        out     admin_entry, 0
        move    value, status
        return

// The same for a side command.
routine side_clear:
        out     side, 1
        fill    0
        entry   1, nsid
        move    retries, SideRetries
        return
routine side returns status, flags:
        add     cid, CidOne
        and     cid, CidBits
        move    temp, cid
        add     temp, CidSide
        add     temp, opcode
        entry   0, temp
        out     push, 1
        arm     side_deadline, DeadlineMs
side_wait:
        jump    side_done, side_ended
        call    watch
        move    value, opcode
        compare side_deadline, now
        fail    negative, ErrSideDeadline
        jump    side_wait
side_ended:
        move    status, side_status
        and     status, StatusBits
        jump    zero, return_status
        test    status, DoNotRetry
        jump    not_zero, return_status
        sub     retries, 1
        jump    carry, return_status
        move    temp, RetryMs
        call    delay
        jump    side

// Checks for at least one block, and none beyond the namespace. `status` and the zero flag have the status.
routine check_range returns status, flags:
        move    status, StatusInvalid
        move    pointer, blocks
        jump    zero, return_status
        move    status, StatusRange
        move    temp, command
        test    temp, LbaTooLarge
        jump    not_zero, return_status
        shift   temp, 8
        and     temp, LbaHigh
        add     pointer, lba
        jump    not_carry, end_low
        add     temp, 1
end_low:
        compare blocks_low, pointer
        jump    not_carry, end_high
        add     temp, 1
end_high:
        compare blocks_high, temp
        jump    carry, return_status
        move    status, StatusOk
return_status:
        test    status, LowerHalf
        return

// Waits until no command of the data path is in flight, or sets `status` to StatusBusy.
routine drain returns status, flags:
        arm     drain_deadline, DeadlineMs
drain_poll:
        move    status, StatusOk
        jump    idle, return_status
        call    watch
        move    status, StatusBusy
        compare drain_deadline, now
        jump    negative, return_status
        jump    drain_poll

// The core sets the pointers of a raw command: no metadata; the mailbox as data, if the opcode transfers data.
routine raw_pages:
        move    opcode, raw
        and     opcode, OpcodeBits
        entry   4, 0
        entry   5, 0
        entry   6, 0
        entry   7, 0
        entry   8, 0
        entry   9, 0
        test    opcode, OpcodeData
        jump    zero, unchanged
        move    temp, OffsetMailbox
        falls   prp
routine prp:                                // PRP1 = `temp` in this epoch's half
        add     temp, window
        entry   6, temp
        wide    temp, WindowBase[63:32]
        entry   7, temp
        return

routine health:
        call    admin_clear
        move    temp, 0
        sub     temp, 1
        entry   1, temp                     // all ones: of the whole controller
        wide    temp, GetHealth
        entry   10, temp
        move    opcode, AdminGetLog
        call    admin_page
        arm     health_at, HealthMs
        test    status, LowerHalf
        jump    not_zero, no_health
        page    temp, HealthWarning / 4
        jump    zero, no_health             // 0 K and no spare: a log without contents
        out     health0, temp
        page    temp, HealthPowerCycles / 4
        out     power_cycles, temp
        page    temp, HealthThreshold / 4
        out     health1, temp
        page    temp, HealthMediaErrors / 4
        out     media_errors, temp
        page    temp, HealthUnsafeShutdowns / 4
        out     unsafe_shutdowns, temp
        out     power, PowerLog
        out     health_valid, 1
        return
no_health:
        out     power, PowerNoLog
        return

// Checks for failures while the program waits for something else.
routine watch:
        fail    disabled, ErrAccess
        fail    link_down, ErrLinkLost
        fail    recover, ErrDataPath
        compare poll_at, now
        jump    not_negative, unchanged
        read    value, RegCsts
        test    value, CstsCfs
        fail    not_zero, ErrFatal
        arm     poll_at, PollMs
        jump    not_ready, unchanged
        move    attempts, 0                 // it was healthy for a while
unchanged:
        return

// In memory mode a response tells that the drive is done with the memory, so wait for its last writes.
routine give_up:
        out     health_valid, 0
        out     ready, 0
        out     push, 0
        out     perst, 0
        out     adapter_reset, 1
        arm     give_up_deadline, QuietMs
giving_up:
        jump    quiet, given_up
        compare give_up_deadline, now
        jump    not_negative, giving_up
given_up:
        out     gone, 1
        return

routine disable_controller:
        read    value, RegCc
        test    value, CcEn
        jump    zero, disabling
        sub     value, CcEn
        write   RegCc, value
        test    value, CcHigh
        jump    not_zero, disabling         // all ones: the drive did not respond
        out     power, PowerStopped
disabling:
        arm     disable_deadline, timeout_ms
disable_poll:
        read    value, RegCsts
        test    value, CstsRdy
        jump    zero, witness
        fail    link_down, ErrLinkLost
        compare disable_deadline, now
        fail    negative, ErrDisable
        move    temp, 0
        call    delay
        jump    disable_poll

// Does the controller still have the admin queue that this core gave it? A VS of zeros or ones is not a response.
witness:
        wide    temp, Aqa
        read    value, RegAqa
        compare temp, value
        jump    not_zero, cleared
        move    temp, window
        read    value, RegAsqLow
        compare temp, value
        jump    not_zero, cleared
        add     temp, OffsetAdminCq
        read    value, RegAcqLow
        compare temp, value
        jump    not_zero, cleared
        wide    temp, WindowBase[63:32]
        read    value, RegAsqHigh
        compare temp, value
        jump    not_zero, cleared
        read    value, RegAcqHigh
        compare temp, value
        jump    not_zero, cleared
        out     power, PowerKept
        return
cleared:
        read    value, RegVs
        fail    zero, ErrAccess
        add     value, 1
        fail    zero, ErrAccess
        out     power, PowerCleared
        return

// `pointer` = the PCI Express capability in the chosen space, `temp` = its first dword; `pointer` = 0, and the zero
// flag, if there is none.
routine find_capability returns pointer, temp, flags:
        move    count, CapabilitiesMax
        read    pointer, CfgCapabilities
next_capability:
        and     pointer, 0x00fc
        jump    zero, unchanged
        read    temp, pointer
        move    value, temp
        and     value, 0x00ff
        compare value, CapabilityExpress
        jump    zero, found
        move    pointer, temp
        shift   pointer, 8
        sub     count, 1
        jump    not_zero, next_capability
        move    pointer, 0
        return
found:
        test    pointer, LowerHalf
        return

// Device Control 2 of the capability at `pointer`, whose first dword is `temp`: set the default completion timeout
// range, 50 us to 50 ms, and clear all other bits. A capability of version 1 has no such register.
routine timeout:
        test    temp, ExpressVersion
        jump    zero, unchanged
        move    temp, pointer
        add     temp, ExpressControl2
        move    value, 0
        write   temp, value
        return

// Mixes `count` dwords of the page, from `pointer` on, into the hash `mark`. Their order matters.
routine fold returns pointer:
        move    temp, mark
        add     mark, mark
        add     mark, temp
        move    temp, mark
        shift   temp, 7
        xor     mark, temp
        page    temp, pointer
        xor     mark, temp
        add     pointer, 1
        sub     count, 1
        jump    not_zero, fold
        return

// Waits for at least `temp` milliseconds.
routine delay:
        add     temp, now
delayed:
        compare temp, now
        jump    not_negative, delayed
        return
