import { z } from 'zod'
import { readClusterInspection } from './cluster-inspection.ts'
import { byName, type GeneralFact, type Inspection, listByPath, toFacts } from './inspection-facts.ts'

/** What the page shows in tables of its own; anything else is listed by its path. */
const Engine = z.object({
  Id: z.string().optional(),
  Created: z.string().optional(),
  Name: z.string().optional(),
  Image: z.string().optional(),
  RestartCount: z.number().optional(),
  State: z
    .object({
      Status: z.string().optional(),
      ExitCode: z.number().optional(),
      Running: z.boolean().optional(),
      StartedAt: z.string().optional(),
      FinishedAt: z.string().optional(),
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

/** Reads the engine's answer into the tables of the page; null when it is no such answer. */
export function readInspection(json: string): Inspection | null {
  const raw = parseJson(json)
  const ofCluster = readClusterInspection(raw)
  if (ofCluster) return ofCluster
  const parsed = Engine.safeParse(raw)
  if (!parsed.success) return null
  const { Id, Name, Created, Image, RestartCount, State, Config, NetworkSettings, Mounts } = parsed.data
  const networks = Object.entries(NetworkSettings?.Networks ?? {})
  const general: [GeneralFact, string | number | undefined][] = [
    ['id', Id],
    ['name', Name?.replace(/^\//, '')],
    ['status', State?.Status],
    // The engine answers 0 for a container that has not ended, which would read as an end without a failure.
    ['exitCode', State?.Running ? undefined : State?.ExitCode],
    ['error', State?.Error || undefined],
    ['image', Config?.Image],
    ['hash', Image],
    ['restartCount', RestartCount],
    ['createdAt', known(Created)],
    ['startedAt', known(State?.StartedAt)],
    ['finishedAt', State?.Running ? undefined : known(State?.FinishedAt)],
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
    isOfCluster: false,
    general: toFacts(general),
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
    rest: listByPath(raw, shownAbove),
  }
}

/** When a container that does not run ended; null for one that runs, was never started, or is not described. */
export function finishedAt(json: string): string | null {
  const parsed = Engine.safeParse(parseJson(json))
  const state = parsed.success ? parsed.data.State : undefined
  return state?.Running ? null : (known(state?.FinishedAt) ?? null)
}

/** Paths that the tables show already. */
const shownAbove = new Set([
  ...['Id', 'Name', 'Created', 'Image', 'RestartCount', 'Mounts', 'Config.Image', 'Config.Hostname', 'Config.Env'],
  ...['Config.Labels', 'State.Status', 'State.ExitCode', 'State.Error', 'State.StartedAt', 'State.FinishedAt'],
  'NetworkSettings.Networks',
])

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

/** The engine writes an unset time as the year 1. */
const known = (at: string | undefined): string | undefined => (at && !at.startsWith('0001-') ? at : undefined)

function pair(text: string) {
  const cut = text.indexOf('=')
  return cut < 0 ? { name: text, value: '' } : { name: text.slice(0, cut), value: text.slice(cut + 1) }
}
