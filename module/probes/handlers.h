/* SPDX-License-Identifier: GPL-2.0 */
/* The two handlers of every kretprobe whose struct ct_armed holds it. */
#ifndef CT_HANDLERS_H
#define CT_HANDLERS_H

struct kretprobe_instance;
struct pt_regs;

int ct_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs);
int ct_probe_return(struct kretprobe_instance *ri, struct pt_regs *regs);

#endif
