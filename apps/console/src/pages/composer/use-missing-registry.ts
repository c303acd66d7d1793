import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey, useCall } from '../../api/client.ts'
import { useTeam } from '../../api/me.ts'

export type MissingRegistry = {
  /** Creates an unchecked registry for a host. */
  create: (host: string) => void
  isPending: (host: string) => boolean
  denied: string | null
  /** Names of admins, for users that cannot create one. */
  admins: string
}

/** What can be done about an image without a registry: admins create one with one click, users learn whom to ask. */
export function useMissingRegistry(isMissing: boolean): MissingRegistry {
  const { t, i18n } = useTranslation('composer')
  const team = useTeam()
  const registries = useQuery(apiQuery('registries.list', { params: { teamSlug: team.slug } }))
  const call = useCall('registries.create', {
    stale: [queryKey('registries.list'), queryKey('dashboard.get')],
  })
  const { data } = useQuery({
    ...apiQuery('teams.get', { params: { teamId: team.id } }),
    enabled: isMissing && call.denied !== null,
  })
  const sent = call.isPending ? call.variables.body : undefined
  const pendingHost = sent?.type === 'unchecked' ? sent.details.url : undefined
  const { denied, mutate } = call
  // The same object while nothing of it changes, so that unchanged cards are not rendered again.
  return useMemo(() => {
    const admins = (data?.users ?? []).filter(({ role, status }) => role !== 'user' && status === 'verified')
    const names = admins.slice(0, 3).map(({ name, email }) => name || email)
    const taken = new Set(registries.data?.map(({ name }) => name))
    return {
      create: (host) =>
        mutate({
          params: { teamSlug: team.slug },
          body: {
            name: toFreeName(host, taken),
            description: t('registry.description'),
            icon: null,
            type: 'unchecked',
            details: { url: host, local: false, public: true },
          },
        }),
      isPending: (host) => pendingHost === host,
      denied,
      admins: new Intl.ListFormat(i18n.language, { type: 'disjunction' }).format(names),
    }
  }, [data, registries.data, team.slug, t, i18n.language, denied, mutate, pendingHost])
}

/** Names of registries are unique in a team. */
function toFreeName(host: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? host : `${host} ${number}`
    if (!taken.has(name)) return name
  }
}
