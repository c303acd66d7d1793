import type { App } from '../context.ts'

/** A pushed tag; without `tag` an image that was pushed by its digest. The repository is named as in the registry. */
export type Push = { repository: string; tag?: string }

/** The number of repositories in one event of the bus, whose names must fit into one notification. */
const perEvent = 20

/**
 * Handles pushes that a registry reported. They are hints: whatever starts because of one asks the registry for the
 * digest first.
 */
export async function notePushes(app: App, registryId: string, pushes: readonly Push[]): Promise<void> {
  publishChanges(
    app,
    registryId,
    pushes.map(({ repository }) => repository),
  )
}

/** Tells every server that tags of these repositories changed, so that lists of tags are read again. */
export function publishChanges(app: Pick<App, 'bus'>, registryId: string, changed: readonly string[]): void {
  const repositories = [...new Set(changed)]
  for (let from = 0; from < repositories.length; from += perEvent)
    app.bus.publish({ type: 'registry.pushed', registryId, repositories: repositories.slice(from, from + perEvent) })
}
