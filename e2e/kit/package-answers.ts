import type { ResponseOf } from '@crux/contract'

type Board = ResponseOf<'packages.board'>
type Cell = Board['projects'][number]['cells'][number]
type Node = Board['environments'][number]['node']

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const version = (name: string) => ({ id: id(Number(name.replaceAll('.', ''))), name, type: 'incremental' as const })
const freeze = { reason: 'No releases during the sale', until: '2031-03-02T06:00:00.000Z' }
const names = ['dev', 'staging', 'prod']

const runs = (column: number, name: string, minutes: number, rest: Partial<Cell> = {}): Cell => ({
  environmentId: id(column),
  running: {
    version: version(name),
    deploymentId: id(500 + column),
    releaseNumber: 3,
    deployedAt: minutesAgo(minutes),
    deployedBy: column === 2 ? 'Grace Hopper' : 'Ada Lovelace',
  },
  ...rest,
})
const latest = (name: string, status: NonNullable<Cell['latest']>['status'], outcome?: string): Cell['latest'] => ({
  deploymentId: id(900),
  version: version(name),
  status,
  outcome,
  updatedAt: minutesAgo(2),
})
const row = (number: number, name: string, latestName: string | null, cells: Cell[]): Board['projects'][number] => ({
  chainId: id(100 + number),
  project: { id: id(200 + number), name, type: 'versioned' },
  latest: latestName === null ? null : version(latestName),
  cells,
})

/** A board with every kind of cell, in three environments of which the last is frozen. */
export const boardAnswer = (node: Node): Board => ({
  environments: names.map((name, column) => ({
    id: id(column),
    name,
    prefix: `web-shop-${name}`,
    node,
    freeze: name === 'prod' ? freeze : null,
  })),
  projects: [
    row(0, 'Checkout', '1.4.0', [
      runs(0, '1.3.0', 90),
      runs(1, '1.3.0', 60),
      runs(2, '1.2.0', 9_000, { newerBefore: version('1.3.0') }),
    ]),
    row(1, 'Payments', '2.1.0', [
      runs(0, '2.1.0', 30),
      runs(1, '2.0.0', 3_000, { newerBefore: version('2.1.0'), latest: latest('2.1.0', 'in-progress') }),
      runs(2, '1.9.0', 40_000, { newerBefore: version('2.0.0') }),
    ]),
    row(2, 'Product search with suggestions', '0.9.2', [
      runs(0, '0.9.1', 200, { latest: latest('0.9.2', 'failed', 'port 8443 is taken by nginx') }),
      runs(1, '0.9.1', 2_000),
      { environmentId: id(2), latest: latest('0.9.1', 'preparing') },
    ]),
    row(
      3,
      'Mail',
      '3.0.0',
      names.map((_, column) => ({ environmentId: id(column) })),
    ),
    row(4, 'Retired', null, []),
  ],
})

/** The same package for many teams: a hundred projects in six environments. */
export function largeBoardAnswer(node: Node): Board {
  const environments = ['dev', 'test', 'staging', 'canary', 'prod-eu', 'prod-us'].map((name, column) => ({
    id: id(column),
    name,
    prefix: `web-shop-${name}`,
    node,
    freeze: null,
  }))
  return {
    environments,
    projects: Array.from({ length: 100 }, (_, number) =>
      row(
        number,
        `service-${number + 1}`,
        '1.3.0',
        environments.map((_environment, column) =>
          runs(column, column < 3 ? '1.3.0' : '1.2.0', 60 * (column + 1), {
            newerBefore: column === 3 ? version('1.3.0') : null,
          }),
        ),
      ),
    ),
  }
}

const stored = (number: number) => ({ id: id(400 + number), createdBy: 'Ada Lovelace', createdAt: minutesAgo(9_000) })

/** The last environment of that board, with every kind of freeze window. */
export const environmentAnswer = (node: Node): ResponseOf<'packages.get-environment'> => ({
  id: id(2),
  name: 'prod',
  prefix: 'web-shop-prod',
  node,
  package: { id: id(300), name: 'Web shop' },
  versionChains: boardAnswer(node).projects.map(({ chainId, project, cells, latest: newest }, number) => ({
    chainId,
    project,
    running: cells[2]?.running,
    versions: newest
      ? ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0', '1.5.0', '1.6.0', '2.0.0'].map((name) => ({
          id: version(name).id,
          name,
          type: 'incremental' as const,
          deployment:
            name === cells[2]?.running?.version.name || (number === 2 && name === '1.3.0')
              ? {
                  id: id(number === 2 ? 900 : 502),
                  prefix: 'web-shop-prod',
                  protected: false,
                  status: number === 2 ? ('failed' as const) : ('successful' as const),
                  audit: {
                    createdAt: minutesAgo(500),
                    createdBy: 'Ada Lovelace',
                    updatedAt: minutesAgo(40),
                    updatedBy: 'Ada Lovelace',
                  },
                }
              : null,
        }))
      : [],
  })),
  freezeWindows: [
    { ...stored(1), kind: 'once', reason: freeze.reason, from: minutesAgo(500), to: freeze.until },
    {
      ...stored(2),
      kind: 'weekly',
      reason: 'Nobody is there to help at the weekend: the office opens on Monday at eight',
      days: [5, 6, 7],
      from: '16:00',
      to: '08:00',
      timeZone: 'America/Argentina/Buenos_Aires',
    },
    { ...stored(3), kind: 'once', reason: 'Sale', from: '2025-12-20T00:00:00.000Z', to: '2026-01-04T07:00:00.000Z' },
  ],
  freeze,
})

type Promotion = ResponseOf<'packages.promotions'>['items'][number]

/** Promotions with every result. */
export function promotionsAnswer(): ResponseOf<'packages.promotions'> {
  const promotion = (number: number, rest: Partial<Promotion>): Promotion => ({
    id: id(700 + number),
    createdAt: minutesAgo(5 + number * 600),
    createdBy: { id: 'ada', name: 'Ada Lovelace' },
    version: { id: version('1.3.0').id, name: '1.3.0' },
    project: { id: id(200), name: 'Checkout' },
    from: { id: id(1), name: 'staging' },
    deploymentId: id(502),
    releaseNumber: 1,
    status: 'successful',
    ...rest,
  })
  const items = [
    promotion(0, { status: 'in-progress', note: 'Express checkout' }),
    promotion(1, {
      note: 'Fixes the rounding of refunds',
      overrideFreeze: 'Refunds were wrong for customers in the United Kingdom',
      project: { id: id(201), name: 'Payments' },
      version: { id: null, name: '1.9.0' },
    }),
    promotion(2, { status: 'failed', reason: 'port 8443 is taken by nginx', from: null }),
    promotion(3, { status: 'unknown', deploymentId: null, from: { id: null, name: 'canary' } }),
  ]
  return { items, total: 34 }
}

/** What the promotion of a version would change, during a freeze. */
export const previewAnswer = (): ResponseOf<'packages.preview-promotion'> => ({
  source: { deploymentId: id(502), version: version('1.2.0') },
  deploymentId: null,
  unmatched: [{ name: 'acme/mailer' }],
  freeze,
  preview: {
    hash: 'a'.repeat(64),
    instances: [
      {
        instanceId: id(800),
        containerName: 'api',
        action: 'replace',
        changes: [
          { property: 'tag', from: '1.2.0', to: '1.3.0' },
          { property: 'environment.CHECKOUT_EXPRESS', from: null, to: 'true' },
        ],
      },
      {
        instanceId: id(801),
        containerName: 'web',
        action: 'replace-with-pause',
        reason: 'both publish port 8080',
        changes: [{ property: 'tag', from: '1.2.0', to: '1.3.0' }],
      },
      { instanceId: id(802), containerName: 'mailer', action: 'create', changes: [] },
    ],
    removed: [],
    problems: [],
  },
})
