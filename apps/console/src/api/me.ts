import { type Action, isAllowed, needs, type Permission, permissions, type TeamRole } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import i18n from 'i18next'
import { apiQuery } from './query.ts'

/** Who is signed in, with teams and invitations. Kept for the life of the page; changes of teams invalidate it. */
export const meQuery = () => ({ ...apiQuery('users.me'), staleTime: 60_000 })

export const useMe = () => useQuery(meQuery()).data

/** The team for pages outside of a team: that of the cookie if the user is a member of it, else the first. */
export function currentTeam<T extends { slug: string }>(teams: readonly T[]): T | undefined {
  const slug = document.cookie.match(/(?:^|;\s*)crux_team_slug=([^;]*)/)?.[1]
  return teams.find((team) => team.slug === slug) ?? teams[0]
}

export function rememberTeam(slug: string): void {
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser yet
  document.cookie = `crux_team_slug=${encodeURIComponent(slug)}; path=/; SameSite=Lax; max-age=31536000${secure}`
}

/** The team of the address, or outside a team the current one. Undefined only for a user without teams. */
export function useTeamOrNone() {
  const { teamSlug } = useParams({ strict: false })
  const teams = useMe()?.teams ?? []
  return teams.find((team) => team.slug === teamSlug) ?? currentTeam(teams)
}

/** The team of the page; routes below /{teamSlug} exist only for members, so it is always there. */
export function useTeam() {
  const team = useTeamOrNone()
  if (!team) throw new Error('This page needs a team')
  return team
}

/**
 * Null when the user may do it, else the reason for a disabled button. The contract's endpoint says what it requires; an address
 * below /teams/{teamId} means the role in that team.
 */
export function useDenied(action: Action): string | null {
  const need = needs[action]
  return useRoleDenied(need in permissions ? (need as Permission) : null)
}

/** The same for a part of a change that requires a higher role than the rest: a slug, protection. */
export const useDeniedPart = (permission: Permission): string | null => useRoleDenied(permission)

function useRoleDenied(permission: Permission | null): string | null {
  const { teamSlug, teamId } = useParams({ strict: false })
  // Operations without a role are also checked on pages without a session, which must not request the current user.
  const teams = useQuery({ ...meQuery(), enabled: permission !== null }).data?.teams ?? []
  const current = teams.find((team) => team.slug === teamSlug) ?? currentTeam(teams)
  const role: TeamRole | undefined = (teamId === undefined ? current : teams.find((team) => team.id === teamId))?.role
  if (!permission || !role || isAllowed(role, permission)) return null
  return i18n.t('denied.role', { role: i18n.t(`role.${permissions[permission]}`), own: i18n.t(`role.${role}`) })
}
