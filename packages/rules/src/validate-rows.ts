import type { ContainerConfigFields } from '@crux/contract'
import { type ConfigProblem, problem, repeated } from './config-problem.ts'
import { capabilityName } from './host-dangerous.ts'
import { networkProblems } from './networks.ts'
import { reservedLabelProblems } from './reserved-labels.ts'

type Row = { key: string; value?: string | null | undefined }

/** Checks names that the engine would refuse later with a less clear error, and reserved labels. */
export function rowProblems(config: ContainerConfigFields): ConfigProblem[] {
  return [
    ...each(config, 'environment', 'matches', noEqualsSign),
    ...each(config, 'secrets', 'matches', noEqualsSign),
    ...reservedLabelProblems(config),
    ...networkProblems(config),
    ...each(config, 'capabilities', 'oneOf', ({ key }) =>
      capabilities.has(capabilityName(key)) ? undefined : 'Use the name of a capability such as NET_ADMIN',
    ),
    ...repeated(
      config.capabilities,
      ({ key }) => capabilityName(key),
      (index) => `capabilities[${index}].key`,
      (name) => `${name} is there twice`,
    ),
    ...each(config, 'customHeaders', 'matches', ({ key }) =>
      /^[\w!#$%&'*+.^`|~-]+$/.test(key)
        ? undefined
        : 'A header is called as X-Request-Id is: letters, digits and dashes',
    ),
  ]
}

const noEqualsSign = ({ key }: Row) => (key.includes('=') ? 'A name has no equals sign' : undefined)

function each(
  config: ContainerConfigFields,
  field: 'environment' | 'secrets' | 'capabilities' | 'customHeaders',
  error: string,
  check: (row: Row) => string | undefined,
): ConfigProblem[] {
  const rows: readonly Row[] = config[field] ?? []
  return rows.flatMap((row, index) => {
    const description = check(row)
    return description ? [problem(`${field}[${index}].key`, error, description)] : []
  })
}

/** capabilities(7), Linux 5.9; `ALL` includes all of them. */
const capabilities: ReadonlySet<string> = new Set(
  `ALL AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID
  IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON
  SETFCAP SETGID SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE
  SYS_TIME SYS_TTY_CONFIG WAKE_ALARM`.split(/\s+/),
)
