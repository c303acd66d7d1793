import type { ContainerConfigType, Query, ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { containsPattern, joined, type Queries, raw, sql } from '../db/queries.ts'

type ChoiceQuery = Query<'container-configurations.list'>
type Row = { id: string; name: string; place: string; updatedAt: Date }

/** Users do not page further through choices: more are neither counted nor listed, but a filter finds them. */
const countedMax = 1_000

/**
 * One kind of owner: the query for those of a team, in an order that an index has. `config` joins the
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
  { team }: Caller,
  query: ChoiceQuery,
): Promise<ResponseInput<'container-configurations.list'>> {
  const { pool } = app.database
  const pattern = query.filter ? containsPattern(query.filter) : undefined
  const wanted = kinds.filter((kind) => query.type === undefined || kind.type === query.type)
  const items: ResponseInput<'container-configurations.list'>['items'] = []
  let total = 0
  for (const kind of wanted) {
    const count = await countMatches(pool, kind, team.id, pattern)
    const skip = Math.max(0, query.skip - total)
    const take = Math.min(query.take - items.length, count - skip)
    if (take > 0)
      for (const row of await getPage(pool, kind, team.id, pattern, { skip, take }))
        items.push({ ...row, type: kind.type })
    total += count
  }
  return { items, total }
}

async function countMatches(
  queries: Queries,
  kind: Kind,
  teamId: string,
  pattern: string | undefined,
): Promise<number> {
  const { n } = await sql`select count(*)::int as n from (
    select from ${raw(kind.from)} where ${found(kind, teamId, pattern)} limit ${raw(countedMax)}) found`.one<{
    n: number
  }>(queries, `count ${kind.type} configurations${pattern ? ' found' : ''}`)
  return n
}

const getPage = (
  queries: Queries,
  kind: Kind,
  teamId: string,
  pattern: string | undefined,
  { skip, take }: { skip: number; take: number },
) =>
  sql`select c.id, ${raw(kind.name)} as name, ${raw(kind.place)} as place, c.updated_at from ${raw(kind.from)}
    join crux.container_config c on ${raw(kind.config)} where ${found(kind, teamId, pattern)}
    order by ${raw(kind.order)} offset ${skip} limit ${take}`.rows<Row>(
    queries,
    `${kind.type} configurations${pattern ? ' found' : ''}`,
  )

function found({ team, searched }: Kind, teamId: string, pattern: string | undefined) {
  const ofTeam = sql`${raw(team)} = ${teamId}`
  if (pattern === undefined) return ofTeam
  const matches = searched.map((column) => sql`${raw(column)} ilike ${pattern}`)
  return sql`${ofTeam} and (${joined(matches, ' or ')})`
}
