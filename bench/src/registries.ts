import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { createDeployment, createService, finished, idle, unique, waitFor } from '@crux/test-kit'
import pg from 'pg'
import { measurePaint, openBrowser } from './browser.ts'
import { startFakeRegistry } from './fake-registry.ts'
import { percentile, type Report, timed } from './measure.ts'
import { deploy, type TestSystem } from './test-system.ts'

const tagCount = 10_000
/** Tags of a list that are in view, for which the page requests the details. */
const inView = 10
const settleMs = 5_000

const image = 'bench/web'

/** A registry with an image of 10,000 tags, and a browser's socket to read them. */
async function prepareTags({ testEnvironment }: TestSystem) {
  const { user, teamSlug } = testEnvironment
  const names = Array.from({ length: tagCount }, (_, index) => `1.${index}`)
  const registry = await startFakeRegistry(names, [image])
  const { id: registryId } = await user.client.call('registries.create', {
    params: { teamSlug },
    body: { name: unique('tags-'), type: 'v2', details: { url: registry.url, public: true } },
  })
  const live = user.live()
  const channel = live.channel('registries', { teamSlug })
  let answered = 0
  let described = 0
  channel.on('registry-image-tags', ({ images }) => {
    if (images[0]?.tags.length !== tagCount) throw new Error(`${images[0]?.tags.length} of ${tagCount} tags arrived`)
    answered++
  })
  channel.on('registry-tag-details', ({ tags }) => {
    described += tags.filter(({ digest }) => digest).length
  })
  await new Promise<void>((resolve) => channel.onReady(() => resolve()))
  // The page shows the highest versions first.
  const first = names.slice(-inView).reverse()
  return {
    registryId,
    /** Reads all tags and the details of those in view. */
    async read() {
      const before = { answered, described }
      channel.send('fetch-image-tags', { registryId, images: [image] })
      await waitFor('the tags', () => answered === before.answered + 1, { everyMs: 1 })
      channel.send('fetch-tag-details', { registryId, image, tags: first })
      await waitFor('their details', () => described === before.described + inView, { everyMs: 1 })
    },
    async end() {
      live.close()
      await registry.stop()
    },
  }
}

/** All tags of an image and the details of those in view, from the request in the browser's socket to the parsed answers. */
export async function firstTags(testSystem: TestSystem, report: Report, rounds: number): Promise<void> {
  const { read, end } = await prepareTags(testSystem)
  try {
    const cold = await timed(read)
    const warm: number[] = []
    for (let round = 0; round < rounds; round++) warm.push(await timed(read))
    report.number(
      `${tagCount.toLocaleString('en')} tags and the details in view, warm, p95`,
      percentile(warm, 95),
      'ms',
      '<= 300',
      `p50 ${percentile(warm, 50).toFixed(1)} ms, ${rounds} rounds; cold ${cold.toFixed(0)} ms`,
    )
  } finally {
    await end()
  }
}

/**
 * The same in Chromium: from the click on an image to the frame in which its tags are painted. The server has the tags in its cache, the page has
 * not, because it is loaded again for each round.
 */
export async function paintedTags(testSystem: TestSystem, report: Report, rounds: number): Promise<void> {
  const { system, testEnvironment } = testSystem
  const { registryId, read, end } = await prepareTags(testSystem)
  const { page, close } = await openBrowser(system.url, testEnvironment.user)
  try {
    const painted: number[] = []
    const described: number[] = []
    for (let round = 0; round <= rounds; round++) {
      await page.goto(`${system.url}/${testEnvironment.teamSlug}/registries/${registryId}`)
      await page.getByRole('button', { name: image, exact: true }).waitFor()
      await read()
      const took = await measurePaint(page, image)
      // The first round loads the code of the list.
      if (round > 0) painted.push(took.rowsMs)
      if (round > 0) described.push(took.detailsMs)
    }
    report.number(
      `first screen of ${tagCount.toLocaleString('en')} tags, painted, warm, p95`,
      percentile(painted, 95),
      'ms',
      '<= 300',
      `p50 ${percentile(painted, 50).toFixed(0)} ms, ${rounds} rounds; with the details in view p50 ${percentile(described, 50).toFixed(0)} ms, p95 ${percentile(described, 95).toFixed(0)} ms`,
    )
  } finally {
    await close()
    await end()
  }
}

const followedCount = 1_000

/** The requests that the regular checks of 1,000 followed images of one team cost, at the default interval. */
export async function followedChecks({ system, testEnvironment }: TestSystem, report: Report, seconds: number) {
  const registry = await startFakeRegistry([])
  const pool = new pg.Pool({ connectionString: system.databaseUrl, max: 1 })
  const { rows } = await pool.query<{ id: string }>(
    `insert into crux.registry (team_id, name, type, url, public, created_by, updated_by)
     select team_id, $2, 'v2', $3, true, created_by, updated_by from crux.registry where id = $1 returning id`,
    [testEnvironment.registryId, unique('followed-'), registry.url],
  )
  const registryId = rows[0]?.id ?? ''
  const service = await createService({ ...testEnvironment, registryId }, [{ name: 'bench/followed', tag: '1' }])
  const deployment = await createDeployment(testEnvironment, service, unique('f'))
  try {
    await pool.query(
      `with added as (
         insert into crux.image (version_id, registry_id, name, tag, "order", created_by, updated_by)
         select version_id, registry_id, name || n, tag, n, created_by, updated_by
         from crux.image, generate_series(1, $2) n where id = $1 returning id)
       insert into crux.instance (deployment_id, image_id, follow) select $3, id, 'notify' from added`,
      [service.imageIds[0], followedCount, deployment.id],
    )
    const count = async () =>
      (await pool.query('select from crux.followed_tag where registry_id = $1', [registryId])).rowCount
    await waitFor('the server follows them', async () => (await count()) === followedCount, {
      timeoutMs: 90_000,
      everyMs: 500,
    })
    await setTimeout(settleMs)
    const before = registry.manifestRequests.length
    await setTimeout(seconds * 1_000)
    const requests = registry.manifestRequests.length - before
    report.number(
      `digest checks of ${followedCount.toLocaleString('en')} followed images`,
      requests / seconds,
      'requests/s',
      '<= 1',
      `${requests} requests in ${seconds} s`,
    )
  } finally {
    await pool.query(`update crux.instance set follow = 'off' where deployment_id = $1`, [deployment.id])
    await pool.query('delete from crux.followed_tag where registry_id = $1', [registryId])
    await pool.end()
    await registry.stop()
  }
}

/** Releases of one deployment that following starts are at least this far apart. */
const releaseSpacingMs = 10_500

/** From the POST of a registry's event to the moment at which the release of a deployment that follows the tag is stored as started. */
export async function hookToRelease(testSystem: TestSystem, report: Report, rounds: number): Promise<void> {
  const { system, testEnvironment, registry } = testSystem
  const { client } = testEnvironment.user
  const name = `bench/${unique('hook')}`
  await registry.push(name, '1', idle())
  const service = await createService(testEnvironment, [{ name, tag: '1' }])
  const deployment = await createDeployment(testEnvironment, service, unique('h'))
  await deploy(testEnvironment, deployment.id)
  const params = { teamSlug: testEnvironment.teamSlug, deploymentId: deployment.id }
  const [instance] = (await client.call('deployments.get', { params })).instances
  const inInstance = { ...params, instanceId: instance?.id ?? '' }
  await client.call('deployments.update-instance', { params: inInstance, body: { follow: 'deploy' } })
  const inRegistry = { teamSlug: testEnvironment.teamSlug, registryId: testEnvironment.registryId }
  const { token } = await client.call('registries.create-token', { params: inRegistry, body: {} })
  const pool = new pg.Pool({ connectionString: system.databaseUrl, max: 1 })
  const took: number[] = []
  try {
    await waitFor('the first check', async () => {
      const { following } = await client.call('deployments.get-instance', { params: inInstance })
      return following?.checkedAt
    })
    for (let round = 0; round < rounds; round++) {
      await setTimeout(releaseSpacingMs)
      await registry.push(name, '1', idle(randomBytes(6).toString('hex')))
      const begun = Date.now()
      const response = await fetch(
        `${system.url}/api/${inRegistry.teamSlug}/registries/${inRegistry.registryId}/hooks/v2`,
        {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/vnd.docker.distribution.events.v1+json',
          },
          body: JSON.stringify({
            events: [{ id: unique('e'), action: 'push', target: { repository: name, tag: '1' } }],
          }),
        },
      )
      if (!response.ok) throw new Error(`the hook answered ${response.status}`)
      const startedAt = await waitFor('the release', async () => {
        const { rows } = await pool.query<{ at: Date }>(
          `select dispatched_at as at from crux.release where deployment_id = $1 and number = $2 and dispatched_at is not null`,
          [deployment.id, round + 2],
        )
        return rows[0]?.at
      })
      took.push(startedAt.getTime() - begun)
      await finished(testEnvironment, deployment.id)
    }
    report.number(
      'event of a registry to the dispatched release, p95',
      percentile(took, 95),
      'ms',
      '<= 500',
      `p50 ${percentile(took, 50).toFixed(0)} ms, ${took.length} pushes`,
    )
  } finally {
    await client.call('deployments.update-instance', { params: inInstance, body: { follow: 'off' } })
    await pool.end()
  }
}
