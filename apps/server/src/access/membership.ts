import { createTtlCache, isUuid } from '@crux/service-kit'
import type { App } from '../context.ts'
import { sessionTtlMs } from '../identity/index.ts'
import type { Actor, TeamContext } from './actor.ts'

export type TeamKey = { by: 'slug' | 'id'; value: string }

/** The team of a request, and the user's role in it. A team without membership and one that does not exist look the same. */
export interface Membership {
  find(actor: Actor, team: TeamKey): Promise<TeamContext | undefined>
}

const team = `t.id, t.slug, t.name, t.second_factor_required`
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

export function createMembership(app: Pick<App, 'database' | 'bus'>): Membership {
  // Changes arrive over the bus at once.
  const known = createTtlCache<string, TeamContext>({ ttlMs: sessionTtlMs, max: 20_000 })
  app.bus.on('member.changed', known.clear)
  app.bus.on('team.changed', known.clear)
  app.bus.on('tokens.revoked', known.clear)
  app.bus.onReconnected(known.clear)

  return {
    async find({ kind, id }, { by, value }) {
      if (by === 'id' && !isUuid(value)) return undefined
      return known.load(`${id} ${by} ${value}`, async () => {
        const { rows } = await app.database.pool.query<TeamContext>({
          name: `membership of a ${kind} by ${by}`,
          text: `${select[kind]} where t.${by} = $2`,
          values: [id, value],
        })
        return rows[0]
      })
    },
  }
}
