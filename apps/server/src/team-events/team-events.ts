import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'

type Detail =
  | {
      type: 'deployment-status'
      deploymentId: string
      releaseNumber: number
      successful: boolean
      /** Why it failed. */
      reason?: string
      projectName: string
      versionName: string
      nodeId: string
      nodeName: string
      prefix: string
      /** The user or token that started the release. */
      by: string
    }
  | {
      type: 'version-created'
      projectId: string
      projectName: string
      versionId: string
      versionName: string
      by: string
    }
  | { type: 'node-added'; nodeId: string; nodeName: string; by: string }
  | { type: 'user-invited'; email: string; teamName: string; by: string }
  | {
      type: 'image-pushed' | 'image-pulled'
      registryId: string
      registryName: string
      /** As in the registry. */
      imageName: string
      tag?: string
      digest?: string
    }
  | { type: 'node-unreachable' | 'node-back'; nodeId: string; nodeName: string; since: string }
  | {
      type: 'image-digest-changed'
      registryId: string
      registryName: string
      imageName: string
      tag: string
      digest: string
    }

/** What happened in a team, for parts that act on it later: notifications, event watchers, the history of environments. */
export type TeamEvent = {
  /** The same for every repetition of one event, and for no other event. */
  key: string
  teamId: string
  /** ISO 8601. */
  at: string
} & Detail
export type TeamEventType = TeamEvent['type']
export type TeamEventOf<T extends TeamEventType> = Extract<TeamEvent, { type: T }>

const queue = 'team-event'

/**
 * Records an event within the transaction in which it happens: it is handled if and only if that commits, once or more,
 * by any server.
 */
export const recordTeamEvent = (app: Pick<App, 'jobs'>, within: Queries, event: TeamEvent): Promise<void> =>
  app.jobs.send(queue, event, { within })

/** Each handler must be repeatable: an event is handled again by all when one of them fails. Call before the queue starts. */
export function handleTeamEvents(
  app: Pick<App, 'jobs'>,
  handlers: readonly ((event: TeamEvent) => Promise<void>)[],
): void {
  app.jobs.handle<TeamEvent>(queue, {}, async (event) => {
    for (const handle of handlers) await handle(event)
  })
}
