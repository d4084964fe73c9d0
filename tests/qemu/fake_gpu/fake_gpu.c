// SPDX-License-Identifier: GPL-2.0
/*
 * fake_gpu - PCI functions without hardware, on which NVIDIA's driver stays loaded.
 *
 * NVIDIA's driver ends with ENODEV where it finds no device. This module
 * registers a PCI root bus in a domain of its own that carries one or two
 * functions, which exist only as configuration space in an array and as BARs
 * in guest memory that the kernel was told to leave alone (memmap= on its
 * command line):
 *
 *   slot 0: an "NVSwitch". The driver claims no GPU of it, but it counts as a
 *           device, so the driver stays loaded even if the probe of slot 1 fails.
 *   slot 1: a "GPU". Two registers in its BAR 0 name the chip, all others read
 *           as they were last written. That suffices for the driver to list it
 *           and, when it is opened, to allocate and map memory for it before it
 *           gives up.
 *
 * Interrupts are real: QEMU's "edu" device lends its INTx line, which a timer
 * raises irqhz times a second, so that the driver's handler, once requested,
 * runs in hard interrupt context.
 *
 * Only for tests in a guest: whatever lies at membase is overwritten.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/version.h>

#define CONFIG_SIZE	4096
#define PCI_VENDOR_FAKE	0x10de

/* The window at membase, as the guest's command line reserves it. */
#define BAR0_OFFSET	0x00000000UL
#define BAR0_SIZE	0x01000000UL
#define BAR1_OFFSET	0x04000000UL
#define BAR1_SIZE	0x04000000UL
#define BAR3_OFFSET	0x08000000UL
#define BAR3_SIZE	0x02000000UL
#define SWITCH_OFFSET	0x0b000000UL
#define SWITCH_SIZE	0x00010000UL
#define WINDOW_SIZE	0x0c000000UL

/* Registers of BAR 0 that say which chip it is. */
#define PMC_BOOT_0	0x000
#define PMC_BOOT_42	0xa00

/* Registers of QEMU's edu device (its documentation: docs/specs/edu.rst). */
#define EDU_VENDOR	0x1234
#define EDU_DEVICE	0x11e8
#define EDU_STATUS	0x24
#define EDU_RAISE	0x60
#define EDU_ACKNOWLEDGE	0x64

enum slot { SLOT_SWITCH, SLOT_GPU, SLOTS };

struct persona {
	const char *name;
	u16 device;		/* 0: no GPU, only the switch */
	u32 boot0;
	u32 boot42;
	struct {
		u32 offset;
		u32 value;
	} extra;
};

static const struct persona personas[] = {
	{ "a100", 0x20b0, 0x170000a1, 0x170a1000 },
	{ "a6000", 0x2230, 0xb72000a1, 0x172a1000 },
	/* The extra register lets an open go on to where driver 535 leaks. */
	{ "h100", 0x2330, 0x180000a1, 0x180a1000, { 0x200bc, 0xff } },
	{ "nvswitch" },
};

static char *persona = "a100";
module_param(persona, charp, 0444);
MODULE_PARM_DESC(persona, "a100, a6000, h100 or nvswitch");

static ulong membase = 0x70000000;
module_param(membase, ulong, 0444);
MODULE_PARM_DESC(membase, "physical address of 192 MiB reserved by memmap=");

static int domain = 1;
module_param(domain, int, 0444);
MODULE_PARM_DESC(domain, "PCI domain of the bus");

static uint irqhz = 100;
module_param(irqhz, uint, 0444);
MODULE_PARM_DESC(irqhz, "interrupts a second (0: none)");

static uint bhevery;
module_param(bhevery, uint, 0444);
MODULE_PARM_DESC(bhevery, "wake the driver's interrupt thread every Nth interrupt (0: never)");

struct fake_function {
	bool present;
	u8 config[CONFIG_SIZE];
	u8 writable[CONFIG_SIZE];	/* the bits that a write changes */
};

static struct fake_function functions[SLOTS];
static struct pci_sysdata sysdata;
static struct resource window, bus_numbers;
static struct pci_bus *bus;
static struct pci_dev *gpu;
static void __iomem *bar0;

static struct {
	struct pci_dev *dev;
	void __iomem *registers;
	int irq;
	bool requested;
	ktime_t period;
	struct hrtimer timer;
	atomic_t raised;
} edu;

static struct fake_function *find_function(struct pci_bus *b, unsigned int devfn)
{
	unsigned int slot = PCI_SLOT(devfn);

	if (b->number || PCI_FUNC(devfn) || slot >= SLOTS || !functions[slot].present)
		return NULL;
	return &functions[slot];
}

static int config_read(struct pci_bus *b, unsigned int devfn, int where, int size, u32 *value)
{
	struct fake_function *f = find_function(b, devfn);
	int i;

	*value = ~0;
	if (!f)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (where + size > CONFIG_SIZE)
		return PCIBIOS_BAD_REGISTER_NUMBER;
	*value = 0;
	for (i = 0; i < size; i++)
		*value |= (u32)f->config[where + i] << (8 * i);
	return PCIBIOS_SUCCESSFUL;
}

static int config_write(struct pci_bus *b, unsigned int devfn, int where, int size, u32 value)
{
	struct fake_function *f = find_function(b, devfn);
	int i;

	if (!f)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (where + size > CONFIG_SIZE)
		return PCIBIOS_BAD_REGISTER_NUMBER;
	for (i = 0; i < size; i++) {
		u8 mask = f->writable[where + i];

		f->config[where + i] = (f->config[where + i] & ~mask) | ((value >> (8 * i)) & mask);
	}
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops config_ops = { .read = config_read, .write = config_write };

static void put16(u8 *at, u16 value)
{
	at[0] = value;
	at[1] = value >> 8;
}

static void put32(u8 *at, u32 value)
{
	put16(at, value);
	put16(at + 2, value >> 16);
}

/* A BAR answers a probe of its size by the bits that cannot be written. */
static void add_bar(struct fake_function *f, int bar, ulong offset, ulong size, u32 flags)
{
	int at = PCI_BASE_ADDRESS_0 + 4 * bar;

	put32(f->config + at, (u32)(membase + offset) | flags);
	put32(f->writable + at, ~((u32)size - 1));
	if (flags & PCI_BASE_ADDRESS_MEM_TYPE_64)
		put32(f->writable + at + 4, ~0);
}

static void add_function(struct fake_function *f, u16 device, u32 class)
{
	const int power = 0x60, express = 0x78;

	f->present = true;
	put16(f->config + PCI_VENDOR_ID, PCI_VENDOR_FAKE);
	put16(f->config + PCI_DEVICE_ID, device);
	put16(f->config + PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	put16(f->writable + PCI_COMMAND, 0x0547);
	put16(f->config + PCI_STATUS, PCI_STATUS_CAP_LIST);
	put32(f->config + PCI_CLASS_REVISION, (class << 8) | 0xa1);
	put16(f->config + PCI_SUBSYSTEM_VENDOR_ID, PCI_VENDOR_FAKE);
	put16(f->config + PCI_SUBSYSTEM_ID, 0x1459);
	f->config[PCI_INTERRUPT_PIN] = 1;
	f->writable[PCI_INTERRUPT_LINE] = 0xff;

	f->config[PCI_CAPABILITY_LIST] = power;
	f->config[power] = PCI_CAP_ID_PM;
	f->config[power + PCI_CAP_LIST_NEXT] = express;
	put16(f->config + power + PCI_PM_PMC, 3);
	put16(f->config + power + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);

	/* An endpoint of version 2, 16 thread buffers, as the driver expects to find. */
	f->config[express] = PCI_CAP_ID_EXP;
	put16(f->config + express + PCI_EXP_FLAGS, 0x0012);
	put32(f->config + express + PCI_EXP_DEVCAP, 0x00008fe1);
	put16(f->config + express + PCI_EXP_DEVCTL, 0x2810);
	put16(f->writable + express + PCI_EXP_DEVCTL, 0xffff);
	put32(f->config + express + PCI_EXP_LNKCAP, 0x00046104);
	put16(f->writable + express + PCI_EXP_LNKCTL, 0x00ff);
	put16(f->config + express + PCI_EXP_LNKSTA, 0x1104);
}

static void add_functions(const struct persona *p)
{
	const u32 bar64 = PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH;
	struct fake_function *f = &functions[SLOT_SWITCH];

	/* Not the number of any switch that exists: nothing talks to it. */
	add_function(f, 0x0001, PCI_CLASS_BRIDGE_OTHER << 8);
	add_bar(f, 0, SWITCH_OFFSET, SWITCH_SIZE, 0);

	if (p->device) {
		f = &functions[SLOT_GPU];
		add_function(f, p->device, PCI_CLASS_DISPLAY_3D << 8);
		add_bar(f, 0, BAR0_OFFSET, BAR0_SIZE, 0);
		add_bar(f, 1, BAR1_OFFSET, BAR1_SIZE, bar64);
		add_bar(f, 3, BAR3_OFFSET, BAR3_SIZE, bar64);
	}

	memset_io(bar0, 0, BAR0_SIZE);
	writel(p->boot0, bar0 + PMC_BOOT_0);
	writel(p->boot42, bar0 + PMC_BOOT_42);
	if (p->extra.offset)
		writel(p->extra.value, bar0 + p->extra.offset);
}

static irqreturn_t edu_isr(int irq, void *cookie)
{
	u32 status = readl(edu.registers + EDU_STATUS);

	if (!status)
		return IRQ_NONE;
	writel(status, edu.registers + EDU_ACKNOWLEDGE);
	return IRQ_HANDLED;
}

static enum hrtimer_restart edu_tick(struct hrtimer *timer)
{
	unsigned int n = atomic_inc_return(&edu.raised);

	/* The drvdata is the cookie that the driver requested its interrupt with. */
	if (bhevery && gpu && n % bhevery == 0 && pci_get_drvdata(gpu))
		irq_wake_thread(gpu->irq, pci_get_drvdata(gpu));
	writel(1, edu.registers + EDU_RAISE);
	hrtimer_forward_now(timer, edu.period);
	return HRTIMER_RESTART;
}

static void edu_setup_timer(void)
{
	edu.period = ns_to_ktime(NSEC_PER_SEC / irqhz);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&edu.timer, edu_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#else
	hrtimer_init(&edu.timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	edu.timer.function = edu_tick;
#endif
}

/* Borrows the edu device's interrupt; without one, the GPU simply has none. */
static void edu_init(void)
{
	edu.dev = pci_get_device(EDU_VENDOR, EDU_DEVICE, NULL);
	if (!edu.dev)
		return;
	if (pci_enable_device(edu.dev))
		goto put;
	edu.irq = edu.dev->irq;
	if (!irqhz)
		return;
	edu.registers = pci_iomap(edu.dev, 0, 0);
	if (!edu.registers)
		goto disable;
	if (request_irq(edu.irq, edu_isr, IRQF_SHARED, "fake_gpu", &edu))
		goto unmap;
	edu_setup_timer();
	edu.requested = true;
	return;

unmap:
	pci_iounmap(edu.dev, edu.registers);
disable:
	pci_disable_device(edu.dev);
put:
	pci_dev_put(edu.dev);
	edu.dev = NULL;
	edu.irq = 0;
}

static void edu_exit(void)
{
	if (!edu.dev)
		return;
	if (edu.requested) {
		hrtimer_cancel(&edu.timer);
		free_irq(edu.irq, &edu);
		pci_iounmap(edu.dev, edu.registers);
	}
	pci_disable_device(edu.dev);
	pci_dev_put(edu.dev);
}

static int add_bus(void)
{
	LIST_HEAD(resources);
	struct pci_dev *dev;

	sysdata.domain = domain;
	sysdata.node = NUMA_NO_NODE;
	window = (struct resource) {
		.name = "fake_gpu window", .flags = IORESOURCE_MEM,
		.start = membase, .end = membase + WINDOW_SIZE - 1,
	};
	bus_numbers = (struct resource) { .name = "fake_gpu bus", .flags = IORESOURCE_BUS };
	pci_add_resource(&resources, &window);
	pci_add_resource(&resources, &bus_numbers);

	pci_lock_rescan_remove();
	bus = pci_create_root_bus(NULL, 0, &config_ops, &sysdata, &resources);
	if (!bus) {
		pci_unlock_rescan_remove();
		pci_free_resource_list(&resources);
		return -ENODEV;
	}
	pci_scan_child_bus(bus);
	list_for_each_entry(dev, &bus->devices, bus_list)
		dev->irq = edu.irq;
	pci_bus_claim_resources(bus);
	gpu = pci_get_slot(bus, PCI_DEVFN(SLOT_GPU, 0));
	pci_bus_add_devices(bus);
	pci_unlock_rescan_remove();
	return 0;
}

static int __init fake_gpu_init(void)
{
	const struct persona *p = NULL;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(personas); i++)
		if (!strcmp(persona, personas[i].name))
			p = &personas[i];
	if (!p) {
		pr_err("fake_gpu: no persona %s\n", persona);
		return -EINVAL;
	}

	bar0 = ioremap(membase + BAR0_OFFSET, BAR0_SIZE);
	if (!bar0)
		return -ENOMEM;
	add_functions(p);
	edu_init();
	err = add_bus();
	if (err) {
		edu_exit();
		iounmap(bar0);
		return err;
	}
	if (edu.requested)
		hrtimer_start(&edu.timer, edu.period, HRTIMER_MODE_REL);
	pr_info("fake_gpu: %s, interrupt %d, %u a second\n", p->name, edu.irq, irqhz);
	return 0;
}

static void __exit fake_gpu_exit(void)
{
	/* The timer uses the GPU, the GPU's driver the interrupt. */
	if (edu.requested)
		hrtimer_cancel(&edu.timer);
	pci_dev_put(gpu);
	pci_lock_rescan_remove();
	pci_stop_root_bus(bus);
	pci_remove_root_bus(bus);
	pci_unlock_rescan_remove();
	pr_info("fake_gpu: raised %d interrupts\n", atomic_read(&edu.raised));
	edu_exit();
	iounmap(bar0);
}

module_init(fake_gpu_init);
module_exit(fake_gpu_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("PCI functions without hardware, for tests of NVIDIA's driver in a guest");
