import type { ContainerConfigFields } from '@crux/contract'
import { type Report, reportRepeated } from './config-problem.ts'
import { capabilityName } from './host-dangerous.ts'
import { checkNetworks } from './networks.ts'
import { checkReservedLabels } from './reserved-labels.ts'

type Row = { key: string; value?: string | null | undefined }

/** Checks names that the engine would refuse later with a less clear error, and reserved labels. */
export function checkRows(config: ContainerConfigFields, report: Report): void {
  const checkKeys = (
    field: 'environment' | 'secrets' | 'capabilities' | 'customHeaders',
    [error, description]: readonly [error: string, description: string],
    isValid: (key: string) => boolean,
  ) => {
    const rows: readonly Row[] = config[field] ?? []
    for (const [index, { key }] of rows.entries())
      if (!isValid(key)) report(`${field}[${index}].key`, error, description)
  }
  const noEqualsSign = ['matches', 'A name has no equals sign'] as const
  checkKeys('environment', noEqualsSign, (key) => !key.includes('='))
  checkKeys('secrets', noEqualsSign, (key) => !key.includes('='))
  checkReservedLabels(config, report)
  checkNetworks(config, report)
  checkKeys('capabilities', ['oneOf', 'Use the name of a capability such as NET_ADMIN'], (key) =>
    capabilities.has(capabilityName(key)),
  )
  reportRepeated(report, config.capabilities, {
    of: ({ key }) => capabilityName(key),
    at: (index) => `capabilities[${index}].key`,
    description: (name) => `${name} is there twice`,
  })
  const header = ['matches', 'A header is called as X-Request-Id is: letters, digits and dashes'] as const
  checkKeys('customHeaders', header, (key) => /^[\w!#$%&'*+.^`|~-]+$/.test(key))
}

/** capabilities(7), Linux 5.9; `ALL` includes all of them. */
const capabilities: ReadonlySet<string> = new Set(
  `ALL AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID
  IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON
  SETFCAP SETGID SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE
  SYS_TIME SYS_TTY_CONFIG WAKE_ALARM`.split(/\s+/),
)
