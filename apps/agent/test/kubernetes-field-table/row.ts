import type { ClusterObject } from '../../src/engines/kubernetes/cluster/cluster.ts'
import type { RowConfig } from '../field-table/row.ts'
import type { ClusterAgent } from '../kit/cluster-agent.ts'
import { getPath } from '../kit/cluster-objects.ts'

/** A container as the cluster and a process inside it show it. */
export interface Seen {
  agent: ClusterAgent
  name: string
  /** A Deployment or a Job. */
  workload: ClusterObject
  pods: ClusterObject[]
  service: ClusterObject | undefined
  ingress: ClusterObject | undefined
  /** What the script of the row wrote; without a script, all that the container wrote. */
  output: string
  /** What its phases and the log reported about it. */
  reported: string[]
}

/** One field, or one kind of value of it: the configured value, and how the cluster must show it. */
export interface FieldRow {
  says: string
  config: RowConfig
  /** For the shell of the container, when it starts. Rows that name commands or args have none. */
  script?: string
  /** An image of a registry that the row needs. */
  image?: string
  /** Shares its container with no other row, because it runs a program of its own or as another user. */
  alone?: boolean
  check(seen: Seen): void | Promise<void>
}

/** A value that a cluster cannot have, and the sentence that says so before anything is changed. */
export interface RefusedRow {
  says: string
  config: RowConfig
  cluster?: { ingressClass: string }
  reason: RegExp
}

export interface RowKit {
  /** Absent where the cluster reaches no registry of this machine. */
  images: { user: string; entrypoint: string } | undefined
  /** By its digest, with one file; absent where the pods of the cluster reach nothing of this machine. */
  files: string | undefined
  /** Absent where there is none, or the pods do not reach it. */
  bucket: string | undefined
  /** A host name that no other test routes. */
  host: string
  seal(text: string): Promise<string>
}

/** The image that every node of the cluster has; init containers beside a container of its origin may run it too. */
export const nodeImage = 'localhost/busybox:1'

/** The output of one row's script ends up between two such lines. */
const toMark = (row: number) => `--- row ${row} ---`

/** Serves two pages on port 8080, runs the scripts of the rows, and ends at once on SIGTERM. */
export function toProgram(rows: readonly Pick<FieldRow, 'script'>[]): Pick<RowConfig, 'commands' | 'args'> {
  const scripts = rows.map(({ script }, index) => (script ? `echo '${toMark(index)}'; ( ${script} ) 2>&1` : ':'))
  // One that runs as another user may write nothing, and serves nothing.
  const serve = '{ mkdir -p /tmp/www; echo field > /tmp/www/index.html; httpd -p 8080 -h /tmp/www; } 2>/dev/null'
  const lines = ["trap 'exit 0' TERM", serve, ...scripts, `echo '${toMark(rows.length)}'`, 'sleep 1000000 & wait']
  return { commands: [{ key: '/bin/sh' }, { key: '-c' }], args: [{ key: lines.join('\n') }] }
}

/** @returns undefined while the scripts have not all ended */
export function findOutput(log: readonly string[], rows: readonly Pick<FieldRow, 'script'>[], row: number) {
  if (!log.includes(toMark(rows.length))) return undefined
  const from = log.indexOf(toMark(row)) + 1
  const end = log.findIndex((line, index) => index >= from && line.startsWith('--- row '))
  return log.slice(from, end).join('\n')
}

const atContainer = (workload: ClusterObject): unknown => {
  const containers = getPath(workload, 'spec', 'template', 'spec', 'containers')
  return Array.isArray(containers) ? containers[0] : undefined
}

/** The container of the workload's template, as JSON. */
export const getContainer = ({ workload }: Seen): unknown => atContainer(workload)

/** The specification of the first pod, as JSON. */
export const getPodSpec = ({ pods }: Seen): unknown => pods[0]?.fields.spec

export const getSpec = (object: ClusterObject | undefined): unknown => object?.fields.spec
