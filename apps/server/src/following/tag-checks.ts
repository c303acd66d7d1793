import { CruxError } from '@crux/contract'
import { createClaimLoop } from '@crux/service-kit'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { readDigest } from '../registries/index.ts'
import { recordTeamEvent } from '../team-events/index.ts'
import { followingChanged } from './events.ts'
import { deploymentsOfTag } from './instance-store.ts'
import {
  blockRegistry,
  type CheckResult,
  type ClaimedTag,
  claimChecks,
  selectRegistryName,
  storeCheck,
} from './tag-store.ts'

const checksMax = 40
/** A slow registry must not delay the checks of others, and the registries of one team not those of other teams. */
const perRegistryMax = 4
const perTeamMax = 8
/** For a registry that limits requests without saying for how long. */
const blockedMsDefault = 60_000

type Options = {
  app: App
  /** The tag has a digest, which may be new to a deployment. */
  checked: (tag: ClaimedTag) => void
  /** A check is due in this time. */
  due: (waitMs: number) => void
}

/** Reads the digests of followed tags when their checks are due. Several servers share them. */
export function createTagChecks({ app, checked, due }: Options) {
  const { pool } = app.database
  const [registries, teams] = [createCounts(), createCounts()]
  const running = new Set<Promise<void>>()
  const claims = createClaimLoop(claim)

  async function claim() {
    const except = { registries: registries.atLeast(perRegistryMax), teams: teams.atLeast(perTeamMax) }
    const max = Math.min(perRegistryMax, checksMax - running.size)
    const claimed = max > 0 ? await claimChecks(pool, { max, except }) : []
    for (const tag of claimed) start(tag)
    return claimed.length
  }

  function start(tag: ClaimedTag) {
    registries.add(tag.registryId, 1)
    teams.add(tag.teamId, 1)
    const check: Promise<void> = checkTag(app, tag)
      .then(({ waitMs, hasDigest }) => {
        due(waitMs)
        if (hasDigest) checked(tag)
      })
      // The claim expires, and the check is repeated then.
      .catch((err: unknown) => app.log.warn({ err, ...tag }, 'a followed tag was not checked, it is tried again'))
      .finally(() => {
        running.delete(check)
        registries.add(tag.registryId, -1)
        teams.add(tag.teamId, -1)
        due(0)
      })
    running.add(check)
  }

  return {
    /** Starts the checks that are due, as far as this server has room for them. */
    run: claims.run,
    async stop() {
      await claims.stop()
      await Promise.all(running)
    },
  }
}

function createCounts() {
  const counts = new Map<string, number>()
  return {
    add(id: string, change: number) {
      const count = (counts.get(id) ?? 0) + change
      if (count > 0) counts.set(id, count)
      else counts.delete(id)
    },
    atLeast: (max: number) => [...counts].flatMap(([id, count]) => (count >= max ? [id] : [])),
  }
}

async function checkTag(app: App, tag: ClaimedTag): Promise<{ waitMs: number; hasDigest: boolean }> {
  const { pool } = app.database
  const intervalMs = app.config.followCheckMs
  const result = await readResult(app, tag)
  const stored = await inTransaction(app.database, async (queries) => {
    const stored = await storeCheck(queries, tag.id, { ...result, requestedBy: tag.requestedBy, intervalMs })
    if (stored?.replaced && result.digest) await recordDigest(app, queries, tag, result.digest, stored.digestAt)
    return stored
  })
  if (result.blockedMs !== undefined) await blockRegistry(pool, tag.registryId, result.blockedMs, intervalMs)
  if (stored?.changed)
    for (const deploymentId of await deploymentsOfTag(pool, tag.id)) {
      const { registryId, name, tag: tagName } = tag
      const fields = { deploymentId, registryId, name, tag: tagName, digest: result.digest, error: result.error }
      followingChanged(app, fields, stored.hasNewDigest ? 'digest of a followed tag' : 'check of a followed tag')
    }
  return { waitMs: stored?.waitMs ?? intervalMs, hasDigest: result.digest !== undefined }
}

/** The row of the tag is locked, so that of several servers one finds the digest to be new. */
async function recordDigest(app: App, queries: Queries, tag: ClaimedTag, digest: string, at: Date): Promise<void> {
  await recordTeamEvent(app, queries, {
    type: 'image-digest-changed',
    // A tag may return to an earlier digest.
    key: `image-digest-changed ${tag.id} ${digest} ${at.toISOString()}`,
    teamId: tag.teamId,
    at: at.toISOString(),
    registryId: tag.registryId,
    registryName: (await selectRegistryName(queries, tag.registryId)) ?? '',
    imageName: tag.name,
    tag: tag.tag,
    digest,
  })
}

async function readResult(app: App, tag: ClaimedTag): Promise<Pick<CheckResult, 'digest' | 'error' | 'blockedMs'>> {
  try {
    const digest = await readDigest(app, { id: tag.teamId }, tag.registryId, tag.name, tag.tag)
    if (digest !== undefined) return { digest, error: null }
    return { digest, error: `The registry has no ${tag.name}:${tag.tag}: push it, or change the tag of the image.` }
  } catch (error) {
    if (!(error instanceof CruxError)) throw error
    const blockedMs =
      error.code === 'registryRateLimit' ? (error.retryAfterS ?? 0) * 1_000 || blockedMsDefault : undefined
    return { digest: undefined, error: error.message, blockedMs }
  }
}
