import { z } from 'zod'

/** What the page reads of the engine's answer; anything else stays in the JSON view. */
const Engine = z.object({
  Id: z.string().optional(),
  Name: z.string().optional(),
  Image: z.string().optional(),
  RestartCount: z.number().optional(),
  State: z
    .object({
      Status: z.string().optional(),
      ExitCode: z.number().optional(),
      StartedAt: z.string().optional(),
      Error: z.string().optional(),
    })
    .optional(),
  Config: z
    .object({
      Image: z.string().optional(),
      Hostname: z.string().optional(),
      Env: z.array(z.string()).nullish(),
      Labels: z.record(z.string(), z.string()).nullish(),
    })
    .optional(),
  NetworkSettings: z
    .object({
      Networks: z
        .record(z.string(), z.object({ IPAddress: z.string().optional(), Aliases: z.array(z.string()).nullish() }))
        .nullish(),
    })
    .optional(),
  Mounts: z
    .array(
      z.object({
        Type: z.string().optional(),
        Source: z.string().optional(),
        Destination: z.string().optional(),
        RW: z.boolean().optional(),
      }),
    )
    .nullish(),
})

export type Fact<Name extends string = string> = { name: Name; value: string }
export type GeneralFact =
  | 'id'
  | 'name'
  | 'status'
  | 'exitCode'
  | 'error'
  | 'image'
  | 'hash'
  | 'restartCount'
  | 'startedAt'
  | 'hostname'
  | 'ip'
export type Inspection = {
  general: Fact<GeneralFact>[]
  environment: Fact[]
  labels: Fact[]
  networks: Fact[]
  mounts: Fact[]
}

/** Reads the engine's answer into the tables of the page; null when it is no such answer. */
export function readInspection(json: string): Inspection | null {
  let raw: unknown
  try {
    raw = JSON.parse(json)
  } catch {
    return null
  }
  const parsed = Engine.safeParse(raw)
  if (!parsed.success) return null
  const { Id, Name, Image, RestartCount, State, Config, NetworkSettings, Mounts } = parsed.data
  const networks = Object.entries(NetworkSettings?.Networks ?? {})
  const general: [GeneralFact, string | number | undefined][] = [
    ['id', Id],
    ['name', Name?.replace(/^\//, '')],
    ['status', State?.Status],
    ['exitCode', State?.ExitCode],
    ['error', State?.Error || undefined],
    ['image', Config?.Image],
    ['hash', Image],
    ['restartCount', RestartCount],
    ['startedAt', State?.StartedAt],
    ['hostname', Config?.Hostname],
    [
      'ip',
      networks
        .map(([, network]) => network.IPAddress)
        .filter(Boolean)
        .join(', ') || undefined,
    ],
  ]
  return {
    general: general.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value: String(value) }])),
    environment: (Config?.Env ?? []).map(pair).sort(byName),
    labels: Object.entries(Config?.Labels ?? {})
      .map(([name, value]) => ({ name, value }))
      .sort(byName),
    networks: networks.map(([name, network]) => ({
      name,
      value: [network.IPAddress, network.Aliases?.join(', ')].filter(Boolean).join(', '),
    })),
    mounts: (Mounts ?? []).map((mount) => ({
      name: mount.Destination ?? '',
      value: `${mount.Source ?? mount.Type ?? ''}${mount.RW === false ? ' (read-only)' : ''}`,
    })),
  }
}

const byName = (a: Fact, b: Fact) => a.name.localeCompare(b.name)

function pair(text: string): Fact {
  const cut = text.indexOf('=')
  return cut < 0 ? { name: text, value: '' } : { name: text.slice(0, cut), value: text.slice(cut + 1) }
}
