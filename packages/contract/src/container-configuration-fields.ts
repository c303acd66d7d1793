import { z } from 'zod'
import {
  type containerStates,
  deploymentStrategies,
  exposeStrategies,
  healthCheckForms,
  logDrivers,
  networkModes,
  portProtocols,
  proxyProtocols,
  restartPolicies,
  ulimitNames,
  volumeTypes,
} from './enums.ts'
import { limits, patterns } from './limits.ts'
import { Id, Port } from './shapes.ts'

/** The schemas of the settings of a container configuration. The console and the server validate with the same ones. */
const rowId = Id.optional()
const key = z.string().trim().min(1).max(1_024).regex(patterns.noWhitespace, 'A key has no white space')
const text = (max: number = limits.value.max) => z.string().max(max)
/** An argument of a command line, which is stored unchanged. White space around it is refused because it is nearly always a mistake. */
const argument = z
  .string()
  .min(1)
  .max(limits.value.max)
  .refine((value) => value === value.trim(), 'Remove the white space around it')

const unique =
  <T>(name: string, of: (row: T) => string | number | undefined) =>
  (rows: T[], context: z.RefinementCtx) => {
    const seen = new Map<string | number, number>()
    rows.forEach((row, index) => {
      const value = of(row)
      if (value === undefined || value === '') return
      if (seen.has(value)) {
        context.addIssue({
          code: 'custom',
          path: [index, name],
          message: `${String(value)} is there twice`,
          params: { rule: 'keysAreUnique' },
        })
      }
      seen.set(value, index)
    })
  }
const list = <T extends z.ZodType>(row: T) => z.array(row).max(limits.listEntries)

export const KeyValue = z.object({ id: rowId, key, value: text() })
/** A `null` value in a stronger layer removes the key of the weaker one. */
export const KeyNullableValue = z.object({ id: rowId, key, value: text().nullable() })
export const KeyRow = z.object({ id: rowId, key })
export const ArgumentRow = z.object({ id: rowId, key: argument })
export const KeyValues = list(KeyValue).superRefine(unique('key', (row) => row.key))
export const KeyNullableValues = list(KeyNullableValue).superRefine(unique('key', (row) => row.key))
export const UniqueKeys = list(KeyRow).superRefine(unique('key', (row) => row.key))
export const Arguments = list(ArgumentRow)

export const PortBinding = z.object({
  id: rowId,
  internal: Port,
  external: Port.nullish(),
  protocol: z.enum(portProtocols).optional(),
  bindAddress: z.union([z.ipv4(), z.ipv6()]).nullish(),
  /** The header that the port gate writes before the bytes of the client. Without it the service sees the address of the gate. */
  proxyProtocol: z.enum(proxyProtocols).nullish(),
})
export const Ports = list(PortBinding).superRefine(
  unique('internal', (row) => `${row.internal}/${row.protocol ?? 'tcp'}`),
)
const Range = z
  .object({ from: Port, to: Port })
  .refine((range) => range.from <= range.to, { path: ['to'], message: 'The end lies before the start' })
export const PortRangeBinding = z
  .object({ id: rowId, internal: Range, external: Range })
  .refine((row) => row.internal.to - row.internal.from === row.external.to - row.external.from, {
    path: ['external', 'to'],
    message: 'Both ranges need the same length',
  })
export const PortRanges = list(PortRangeBinding)

export const Volume = z.object({
  id: rowId,
  name: z
    .string()
    .trim()
    .min(1)
    .max(255)
    .refine((value) => !value.startsWith('-'), 'A name does not start with a dash'),
  path: z.string().trim().min(1).max(4_096),
  size: z.string().regex(patterns.quantity, 'Use a quantity such as 512Mi or 1G').or(z.literal('')).nullish(),
  type: z.enum(volumeTypes).nullish(),
  class: z.string().max(253).nullish(),
})
export const Volumes = list(Volume)
  .superRefine(unique('path', (row) => row.path))
  .superRefine(unique('name', (row) => row.name))

export const InitContainer = z.object({
  id: rowId,
  name: z.string().trim().min(1).max(63).regex(patterns.noWhitespace, 'A name has no white space'),
  image: z.string().trim().min(1).max(512),
  command: Arguments.nullish(),
  args: Arguments.nullish(),
  environment: KeyValues.nullish(),
  useParentConfig: z.boolean().default(false),
  volumes: list(
    z.object({ id: rowId, name: z.string().min(1).max(255), path: z.string().min(1).max(4_096) }),
  ).nullish(),
})

export const Routing = z.object({
  domain: z.string().max(2_048).nullish(),
  path: z.string().max(2_048).startsWith('/', 'A path starts with /').or(z.literal('')).nullish(),
  stripPath: z.boolean().nullish(),
  uploadLimit: z.string().max(32).nullish(),
  port: Port.nullish(),
})
export const ConfigContainer = z.object({
  image: z.string().trim().min(1).max(512),
  volume: z.string().trim().min(1).max(255),
  path: z.string().trim().min(1).max(4_096),
  keepFiles: z.boolean().default(false),
})
export const LogConfig = z.object({ driver: z.enum(logDrivers).default('nodeDefault'), options: KeyValues.nullish() })
export const ExpectedState = z.object({
  state: z.enum(['running', 'waiting', 'exited'] satisfies (typeof containerStates)[number][]),
  /** Seconds until the start counts as failed; 120 when absent. */
  timeout: z.int().min(0).max(86_400).nullish(),
  exitCode: z.int().min(-127).max(255).nullish(),
})
const seconds = z.int().min(1).max(86_400).nullish()
/**
 * Probes are HTTP paths. On Docker, which has no HTTP probes, the agent requests them while it verifies a start. `test`, `command` or `arguments`,
 * and the times become the engine's own health check.
 */
export const HealthCheckConfig = z.object({
  port: Port.nullish(),
  livenessProbe: z.string().max(2_048).nullish(),
  readinessProbe: z.string().max(2_048).nullish(),
  startupProbe: z.string().max(2_048).nullish(),
  /** `shell` when absent: a shell inside the container runs `command`. `exec` runs `arguments` without one. `none` switches off the image's check. */
  test: z.enum(healthCheckForms).nullish(),
  /** Of the form `shell`; exit code 0 is healthy. */
  command: text(4_096).nullish(),
  /** Of the form `exec`: the program and its arguments. */
  arguments: Arguments.nullish(),
  intervalSeconds: seconds,
  timeoutSeconds: seconds,
  startPeriodSeconds: seconds,
  retries: z.int().min(1).max(100).nullish(),
})
const cpu = z
  .string()
  .regex(patterns.cpu, 'Use cores such as 0.5 or thousandths such as 500m')
  .or(z.literal(''))
  .nullish()
const memory = z.string().regex(patterns.quantity, 'Use a quantity such as 512Mi or 1G').or(z.literal('')).nullish()
const Resource = z.object({ cpu, memory })
/** The names of the engine without `RLIMIT_`: `nofile`, `nproc`, `memlock`; -1 is unlimited. */
export const Ulimit = z
  .object({
    id: rowId,
    key: z.enum(ulimitNames),
    soft: z.int().min(-1).max(Number.MAX_SAFE_INTEGER),
    hard: z.int().min(-1).max(Number.MAX_SAFE_INTEGER),
  })
  .refine(({ soft, hard }) => hard === -1 || (soft !== -1 && soft <= hard), {
    path: ['soft'],
    message: 'The soft limit lies above the hard one',
  })
export const Ulimits = list(Ulimit).superRefine(unique('key', (row) => row.key))
/** Lines of the container's /etc/hosts: a name and an address, or `host-gateway` for the node itself. */
export const ExtraHost = z.object({
  id: rowId,
  key: z.string().trim().min(1).max(253).regex(patterns.hostName, 'Use a host name such as db.internal'),
  value: z.union([z.ipv4(), z.ipv6(), z.literal('host-gateway')]),
})
export const ExtraHosts = list(ExtraHost).superRefine(unique('key', (row) => row.key))
/** The gate of the node holds published TCP ports and keeps running while containers are replaced (docs/adr/0006-port-gate.md). */
export const PortGate = z.object({
  enabled: z.boolean(),
  /** How long open connections to a replaced container may continue. */
  drainSeconds: z.int().min(0).max(3_600).nullish(),
})
export const Capability = z.object({ id: rowId, key, value: z.enum(['add', 'drop']) })
export const Capabilities = list(Capability).superRefine(unique('key', (row) => row.key))
export const ResourceConfig = z.object({ limits: Resource.nullish(), requests: Resource.nullish() })
export const Marker = z.object({
  deployment: KeyNullableValues.nullish(),
  service: KeyNullableValues.nullish(),
  ingress: KeyNullableValues.nullish(),
})
export const Metrics = z.object({ enabled: z.boolean(), path: z.string().max(2_048).nullish(), port: Port.nullish() })
export const StorageUse = z.object({
  storageId: Id.nullish(),
  bucket: z.string().max(255).nullish(),
  path: z.string().max(4_096).nullish(),
})
/** Base layers contain keys; concrete layers contain values that only the node can decrypt. */
export const Secret = z.object({
  id: rowId,
  key,
  required: z.boolean().default(false),
  value: text(1_048_576).optional(),
  encrypted: z.boolean().optional(),
  publicKey: z.string().max(16_384).nullish(),
  /** Base layers only: the browser can generate a value, the same one for all keys of a deployment that name this group. */
  generate: z
    .string()
    .max(63)
    .regex(patterns.secretGroup, 'Use lower-case letters, digits and dashes for the group')
    .optional(),
})
export const Secrets = list(Secret).superRefine(unique('key', (row) => row.key))
/** A signal by its name or its number, as the engine accepts it (signal(7)). */
export const StopSignal = z.string().regex(patterns.signal, 'Use the name of a signal, such as SIGTERM, or its number')
export const User = z.int().min(limits.userId.min).max(limits.userId.max)
export const choices = { exposeStrategies, networkModes, restartPolicies, deploymentStrategies }
