import type { App } from '../context.ts'
import type { Actor, TeamContext } from './actor.ts'

/** As long as a session may be cached; changes arrive over the bus at once. */
const ttlMs = 2_000
const entriesMax = 20_000

export type TeamKey = { by: 'slug' | 'id'; value: string }

/** The team of a request, and the user's role in it. A team without membership and one that does not exist look the same. */
export interface Membership {
  find(actor: Actor, team: TeamKey): Promise<TeamContext | undefined>
}

const team = `t.id, t.slug, t.name, t.second_factor_required as "secondFactorRequired"`
const select: Record<Actor['kind'], string> = {
  user: `select ${team}, m.role from crux.team t join crux.team_member m on m.team_id = t.id and m.user_id = $1`,
  'service-account': `select ${team}, a.role from crux.team t
    join crux.service_account a on a.team_id = t.id and a.id = $1 and a.deleted_at is null`,
  // The token has its creator's current rights, but at most those of an admin; a user's rights once the creator has
  // left.
  'deployment-token': `select ${team}, case when m.role in ('admin', 'owner') then 'admin' else 'user' end as role
    from crux.team t join crux.access_token k on k.team_id = t.id and k.id = $1 and k.hash is not null
    left join crux.team_member m on m.team_id = t.id and m.user_id = k.created_by`,
}
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function createMembership(app: Pick<App, 'database' | 'bus'>): Membership {
  const known = new Map<string, { at: number; team: TeamContext }>()
  // Grows with every change: a result that was read before the change is not cached.
  let changes = 0
  const forget = () => {
    changes++
    known.clear()
  }
  app.bus.on('member.changed', forget)
  app.bus.on('team.changed', forget)
  app.bus.on('tokens.revoked', forget)
  app.bus.onReconnected(forget)

  return {
    async find({ kind, id }, { by, value }) {
      if (by === 'id' && !uuid.test(value)) return undefined
      const key = `${id} ${by} ${value}`
      const entry = known.get(key)
      if (entry && Date.now() - entry.at < ttlMs) return entry.team
      const before = changes
      const { rows } = await app.database.pool.query<TeamContext>({
        name: `membership of a ${kind} by ${by}`,
        text: `${select[kind]} where t.${by} = $2`,
        values: [id, value],
      })
      const team = rows[0]
      if (known.size >= entriesMax) known.clear()
      if (team && before === changes) known.set(key, { at: Date.now(), team })
      else known.delete(key)
      return team
    },
  }
}
