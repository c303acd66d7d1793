import type { ContainerConfigType, Query, ResponseInput } from '@crux/contract'
import type { TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/transaction.ts'

type ChoiceQuery = Query<'container-configurations.list'>
type Row = { id: string; name: string; place: string; updatedAt: Date }

/** Users do not page further through choices: more are neither counted nor listed, but a filter finds them. */
const countedMax = 1_000

/**
 * One kind of owner: the query for those of a team (`$1`), in an order that an index has. `config` joins the
 * configuration, which every owner has.
 */
type Kind = {
  type: ContainerConfigType
  name: string
  place: string
  from: string
  config: string
  team: string
  searched: string[]
  order: string
}

const ofVersion = `p.name || ' ' || v.name`
const ofDeployment = `d.prefix || ' on ' || n.name || ', ' || ${ofVersion}`
const deploymentJoins = `join crux.node n on n.id = d.node_id
  join crux.version v on v.id = d.version_id
  join crux.project p on p.id = d.project_id`

const kinds: readonly Kind[] = [
  {
    type: 'config-bundle',
    name: 'b.name',
    place: `'config bundle'`,
    from: 'crux.config_bundle b',
    config: 'c.config_bundle_id = b.id',
    team: 'b.team_id',
    searched: ['b.name'],
    order: 'b.name',
  },
  {
    type: 'deployment',
    name: 'd.prefix',
    place: `'on ' || n.name || ', ' || ${ofVersion}`,
    from: `crux.deployment d ${deploymentJoins}`,
    config: 'c.deployment_id = d.id',
    team: 'd.team_id',
    searched: ['d.prefix', 'n.name', 'v.name', 'p.name'],
    order: 'd.created_at desc, d.id desc',
  },
  {
    type: 'image',
    name: 'i.name',
    place: ofVersion,
    from: 'crux.project p join crux.version v on v.project_id = p.id join crux.image i on i.version_id = v.id',
    config: 'c.image_id = i.id',
    team: 'p.team_id',
    searched: ['i.name', 'v.name', 'p.name'],
    order: 'p.name, v.id, i."order"',
  },
  {
    type: 'instance',
    name: 'i.name',
    place: ofDeployment,
    from: `crux.deployment d join crux.instance inst on inst.deployment_id = d.id
      join crux.image i on i.id = inst.image_id ${deploymentJoins}`,
    config: 'c.instance_id = inst.id',
    team: 'd.team_id',
    searched: ['i.name', 'd.prefix', 'n.name', 'v.name', 'p.name'],
    order: 'd.created_at desc, d.id desc, i."order"',
  },
]

/** Bundles first, then deployments, images, instances: configurations that are shared by more come first. */
export async function listChoices(
  app: App,
  team: TeamContext,
  query: ChoiceQuery,
): Promise<ResponseInput<'container-configurations.list'>> {
  const { pool } = app.database
  const pattern = query.filter ? `%${query.filter.replace(/[\\%_]/g, '\\$&')}%` : undefined
  const wanted = kinds.filter((kind) => query.type === undefined || kind.type === query.type)
  const items: ResponseInput<'container-configurations.list'>['items'] = []
  let total = 0
  for (const kind of wanted) {
    const count = await countOf(pool, kind, team.id, pattern)
    const skip = Math.max(0, query.skip - total)
    const take = Math.min(query.take - items.length, count - skip)
    if (take > 0)
      for (const row of await pageOf(pool, kind, team.id, pattern, { skip, take }))
        items.push({ ...row, type: kind.type, updatedAt: row.updatedAt.toISOString() })
    total += count
  }
  return { items, total }
}

async function countOf(queries: Queries, kind: Kind, teamId: string, pattern: string | undefined): Promise<number> {
  const { rows } = await queries.query<{ n: number }>({
    name: `count ${kind.type} configurations${pattern ? ' found' : ''}`,
    text: `select count(*)::int as n from (
        select from ${kind.from} where ${found(kind, pattern)} limit ${countedMax}) found`,
    values: pattern ? [teamId, pattern] : [teamId],
  })
  return rows[0]?.n ?? 0
}

async function pageOf(
  queries: Queries,
  kind: Kind,
  teamId: string,
  pattern: string | undefined,
  { skip, take }: { skip: number; take: number },
): Promise<Row[]> {
  const values = pattern ? [teamId, pattern, skip, take] : [teamId, skip, take]
  const { rows } = await queries.query<Row>({
    name: `${kind.type} configurations${pattern ? ' found' : ''}`,
    text: `select c.id, ${kind.name} as name, ${kind.place} as place, c.updated_at from ${kind.from}
      join crux.container_config c on ${kind.config} where ${found(kind, pattern)} order by ${kind.order} offset $${values.length - 1} limit $${values.length}`,
    values,
  })
  return rows
}

const found = ({ team, searched }: Kind, pattern: string | undefined) =>
  [`${team} = $1`, ...(pattern ? [`(${searched.map((column) => `${column} ilike $2`).join(' or ')})`] : [])].join(
    ' and ',
  )
