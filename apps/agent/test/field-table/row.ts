import type { ContainerConfigField } from '@crux/contract'
import type Docker from 'dockerode'
import { expect } from 'vitest'
import type { makeConfig, TestEnvironment } from '../kit/index.ts'

export type RowConfig = Omit<Parameters<typeof makeConfig>[0], 'name'>

/** A container as the engine and a process inside it show it. */
export interface Seen {
  testEnvironment: TestEnvironment
  /** Its name without the prefix. */
  short: string
  info: Docker.ContainerInspectInfo
  /** What its phases and the log reported about it. */
  reported: string[]
  exec(...command: string[]): Promise<string>
}

/** One field, or one kind of value of it: the configured value, and how the engine must show it. */
export interface FieldRow {
  says: string
  config: RowConfig
  /** An image that the row needs; any other container answers over HTTP on port 8080. */
  image?: string
  /** Shares its container with no other row, because it ends by itself or has no network. */
  alone?: boolean
  check(seen: Seen): void | Promise<void>
}

/** Names that rows use and the test creates. */
export interface RowKit {
  ports: number[]
  /** The first of three ports in a row. */
  range: number
  /** A directory of the node outside of the agent's. */
  hostDirectory: string
  /** The key of an unused network of the team, and of a network of the engine. */
  networks: string[]
  /** A host name without another route, because a host name belongs to one owner per engine. */
  routedHost: string
  encrypt(text: string): Promise<string>
  images: { tool: string; bare: string; labelled: string; checked: string; user: string }
}

/** What decides which rows share a container. */
type PackableRow = Pick<FieldRow, 'config' | 'image' | 'alone'>

export function getFields({ config }: Pick<FieldRow, 'config'>): ContainerConfigField[] {
  return Object.keys(config) as ContainerConfigField[]
}

/**
 * Puts rows into as few containers as possible: rows that set different fields, or one field to the same value, share a container. Each
 * start costs the engine time.
 */
export function packRows<Row extends PackableRow>(
  rows: readonly Row[],
): { config: RowConfig; image: string | undefined; rows: Row[] }[] {
  const packed: { config: RowConfig; image: string | undefined; rows: Row[]; alone: boolean }[] = []
  for (const row of rows) {
    const place = row.alone
      ? undefined
      : packed.find(
          ({ config, image, alone }) =>
            !alone && image === row.image && getFields(row).every((field) => !(field in config)),
        )
    if (place) {
      Object.assign(place.config, row.config)
      place.rows.push(row)
    } else packed.push({ config: { ...row.config }, image: row.image, rows: [row], alone: row.alone ?? false })
  }
  // An instance that others wait for comes last.
  return packed.sort((left, right) => Number(holdsBack(left.config)) - Number(holdsBack(right.config)))
}

export function holdsBack({ expectedState, healthCheckConfig }: RowConfig): boolean {
  return expectedState != null || healthCheckConfig != null
}

export function bindings({ info }: Seen): Record<string, unknown> {
  return (info.HostConfig.PortBindings ?? {}) as Record<string, unknown>
}

export function mountAt({ info }: Seen, target: string) {
  return info.Mounts.find(({ Destination }) => Destination === target)
}

export function getLabels({ info }: Seen): Record<string, string> {
  return info.Config.Labels ?? {}
}

export async function answers(port: number, host = '127.0.0.1'): Promise<void> {
  const response = await fetch(`http://${host}:${port}/`)
  expect((await response.text()).trim()).toBe('field')
}
