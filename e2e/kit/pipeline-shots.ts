import type { ResponseOf } from '@crux/contract'
import { expect, type Page } from '@playwright/test'
import type { Shot } from './deployment-shots.ts'
import type { Fixture } from './fixture.ts'

type Pipeline = ResponseOf<'pipelines.list'>[number]
type Details = ResponseOf<'pipelines.get'>
type Run = ResponseOf<'pipelines.runs'>['items'][number]

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
const ada = { id: id(1), name: 'Ada Lovelace' }

/** A run of each status and origin. */
function makeRun(number: number): Run {
  const status = number === 29 ? 'queued' : number === 28 ? 'running' : number % 9 === 4 ? 'failed' : 'successful'
  const isOpen = status === 'queued' || status === 'running'
  const startedAt = ago((30 - number) * 95 - 90)
  const minutes = number % 9 === 4 ? 1.2 : 3 + ((number * 7) % 5)
  const run: Run = {
    id: id(100 + number),
    status,
    startedAt,
    finishedAt: isOpen ? null : new Date(Date.parse(startedAt) + minutes * 60_000).toISOString(),
    creatorType: number % 3 === 0 ? 'user' : 'eventWatcher',
    ...(number % 3 === 0
      ? { startedBy: ada }
      : { eventWatcher: { id: id(60), name: 'Pushes of the shop to the registry' } }),
    externalId: number === 29 ? null : `9007199254740${number + 100}`,
    url: number === 29 ? null : `https://github.com/acme/shop/actions/runs/9007199254740${number + 100}`,
    reason: null,
    inputs: [
      { id: id(40), key: 'IMAGE', value: `acme/shop/web:2.${number}.0` },
      { id: id(41), key: 'ENVIRONMENT', value: 'production' },
      { id: id(42), key: 'NOTES', value: '' },
    ],
  }
  if (number !== 24) return run
  const reason = 'GitHub has no run with this id any more. It was probably deleted there.'
  return { ...run, status: 'unknown', finishedAt: null, reason }
}
const runs = Array.from({ length: 30 }, (_, index) => makeRun(29 - index))

const makePipeline = (number: number, change: Partial<Pipeline> = {}): Pipeline => ({
  id: id(200 + number),
  name: 'Release of the shop',
  type: 'github',
  description: 'Builds the images of the shop and runs its tests',
  icon: 'owl',
  repository: { organization: 'acme', project: 'shop', branch: 'main' },
  trigger: 'release.yml',
  lastRun: runs[1],
  ...change,
})
const pipelines: Pipeline[] = [
  makePipeline(0),
  makePipeline(1, {
    name: 'Nightly import',
    type: 'azure',
    icon: null,
    trigger: 'import-nightly',
    repository: { organization: 'acme-gmbh', project: 'Data Platform' },
    lastRun: runs.find(({ status }) => status === 'failed'),
  }),
  makePipeline(2, {
    name: 'Acceptance tests',
    type: 'gitlab',
    icon: 'gecko',
    trigger: '',
    repository: { organization: 'acme/platform/quality', project: 'acceptance' },
    lastRun: runs[3],
  }),
  makePipeline(3, { name: 'Documentation', icon: null, trigger: 'docs.yml', lastRun: null }),
  makePipeline(4, { name: 'Security scan', icon: null, trigger: 'scan.yml', lastRun: runs[5] }),
  makePipeline(5, { name: 'Staging', icon: null, trigger: 'staging.yml', lastRun: runs[0] }),
]

const details = (fixture: Fixture): Details => {
  const { trigger, ...pipeline } = makePipeline(0)
  return {
    ...pipeline,
    audit: { createdAt: ago(90_000), createdBy: 'Ada Lovelace', updatedAt: ago(4_000), updatedBy: 'Ada Lovelace' },
    url: 'https://github.com/acme/shop/actions/workflows/release.yml',
    trigger: { name: trigger, inputs: runs[2]?.inputs ?? [] },
    hook: { state: 'active', lastDeliveryAt: ago(4) },
    eventWatchers: ['image-push', 'image-pull'].map((event, index) => ({
      id: id(60 + index),
      name: index === 0 ? 'Pushes of the shop to the registry' : 'Pulls',
      event: event === 'image-push' ? 'image-push' : 'image-pull',
      filters: { imageNameStartsWith: index === 0 ? 'acme/shop/' : '' },
      triggerInputs: [
        { id: id(40), key: 'IMAGE', value: '{{ imageName }}:{{ imageTag }}' },
        { id: id(44), key: 'REVISION', value: '{{ label:org.opencontainers.image.revision }}' },
      ],
      createdAt: ago(5_000 + index),
      registry: { id: fixture.registry, name: 'registry', type: 'v2' },
    })),
  }
}

const refusedToken = {
  error: 'forbidden',
  property: 'token',
  description: 'GitHub refuses this token.',
}

/** Answers the requests of the pages with pipelines of each kind, because their services cannot be had here. */
async function stub(page: Page, pipeline: Details, listed = runs): Promise<void> {
  await page.route(/\/api\/[^/]+\/pipelines$/, (route) => route.fulfill({ json: pipelines }))
  await page.route(new RegExp(`/api/[^/]+/pipelines/${pipeline.id}$`), (route) =>
    route.fulfill(route.request().method() === 'PUT' ? { status: 403, json: refusedToken } : { json: pipeline }),
  )
  await page.route(/\/api\/[^/]+\/pipelines\/[^/]+\/runs\?/, (route) => {
    const { searchParams } = new URL(route.request().url())
    const skip = Number(searchParams.get('skip'))
    const items = listed.slice(skip, skip + Number(searchParams.get('take')))
    return route.fulfill({ json: { items, total: listed.length } })
  })
}

/** Screenshots of the pages and dialogs of pipelines. */
export function pipelineShots(fixture: () => Fixture): Shot[] {
  const list = () => `/${fixture().team}/pipelines`
  const one = () => `${list()}/${id(200)}`
  const dialog = (page: Page) => page.getByRole('dialog')
  const full = (page: Page) => stub(page, details(fixture()))
  const press = async (page: Page, name: string) => {
    await page.getByRole('button', { name, exact: true }).first().click()
    await expect(dialog(page)).toBeVisible()
  }
  return [
    { name: 'pipelines', path: list, before: full, act: (page) => expect(page.getByText('Never run')).toBeVisible() },
    { name: 'pipelines-empty', path: () => `/${fixture().emptyTeam}/pipelines` },
    {
      name: 'pipeline-create',
      path: () => `${list()}#new`,
      before: full,
      act: (page) => expect(dialog(page)).toBeVisible(),
    },
    {
      name: 'pipeline-create-errors',
      path: () => `${list()}#new`,
      before: full,
      act: async (page) => {
        await dialog(page).getByRole('button', { name: 'Create pipeline' }).click()
        await expect(dialog(page).getByLabel('Access token')).toHaveAttribute('aria-invalid', 'true')
      },
    },
    { name: 'pipeline', path: one, before: full, act: (page) => expect(page.getByText('Longest:')).toBeVisible() },
    {
      name: 'pipeline-watchers',
      path: one,
      before: full,
      see: (page) =>
        page.getByRole('table', { name: 'Event watchers' }).or(page.getByRole('list', { name: 'Event watchers' })),
    },
    {
      name: 'pipeline-trigger',
      path: () => `${one()}#trigger`,
      before: full,
      act: (page) => expect(dialog(page)).toBeVisible(),
    },
    {
      name: 'pipeline-trigger-confirm',
      path: () => `${one()}#trigger`,
      before: full,
      act: async (page) => {
        await dialog(page).getByRole('button', { name: 'Trigger', exact: true }).click()
        await expect(dialog(page).getByRole('button', { name: 'Start the run' })).toBeVisible()
      },
    },
    {
      name: 'pipeline-edit',
      path: () => `${one()}#edit`,
      before: full,
      act: (page) => expect(dialog(page)).toBeVisible(),
    },
    {
      name: 'pipeline-edit-refused',
      path: () => `${one()}#edit`,
      before: full,
      act: async (page) => {
        await dialog(page).getByRole('button', { name: 'Save' }).click()
        await expect(dialog(page).getByText(refusedToken.description)).toBeVisible()
      },
    },
    { name: 'pipeline-run', path: one, before: full, act: (page) => press(page, 'Show details') },
    { name: 'pipeline-watcher-create', path: one, before: full, act: (page) => press(page, 'Add event watcher') },
    {
      name: 'pipeline-watcher-edit',
      path: one,
      before: full,
      act: async (page) => {
        await page.getByRole('table', { name: 'Event watchers' }).getByRole('button', { name: 'Edit' }).last().click()
        await expect(dialog(page).getByText('This registry reports no events yet')).toBeVisible()
        await expect(dialog(page).getByLabel('Registry')).toHaveValue(fixture().registry)
      },
    },
    // The last one, because the same page with another anchor keeps what it has loaded.
    {
      name: 'pipeline-new',
      path: one,
      before: (page) => {
        const { trigger, ...pipeline } = details(fixture())
        const problem = 'The token may not create webhooks in acme/shop.'
        return stub(
          page,
          {
            ...pipeline,
            trigger: { ...trigger, inputs: [] },
            lastRun: null,
            eventWatchers: [],
            hook: { state: 'failed', problem },
          },
          [],
        )
      },
      act: (page) => expect(page.getByText('No runs yet')).toBeVisible(),
    },
  ]
}
