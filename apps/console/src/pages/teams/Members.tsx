import { teamRoles } from '@crux/contract'
import { Crown, Link, RotateCw, ShieldMinus, ShieldPlus, UserMinus, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { useDenied, useMe } from '../../api/me.ts'
import { Avatar } from '../../components/Avatar.tsx'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { State } from '../../components/State.tsx'
import { Pill } from '../../components/Tag.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import type { Column, RowAction } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { filterRows } from '../../table/filter-rows.ts'
import { NoMatches } from '../../table/NoMatches.tsx'
import { timeColumn } from '../../table/named-columns.tsx'
import { lastOwner, type Member, type Team } from './members.ts'
import { usePauses } from './use-pauses.ts'

const InvitationLinkDialog = lazyComponent(
  async () => (await import('./InvitationLinkDialog.tsx')).InvitationLinkDialog,
)
const TeamInvite = lazyComponent(async () => (await import('../../forms/team-invite.tsx')).TeamInvite)

/** As long as the server refuses another mail to the same user. */
const reinvitePauseMs = 30_000

/** The members and the invitations of the team. */
export function Members({ team }: { team: Team }) {
  const { t } = useTranslation(['teams', 'common'])
  const [text, setText] = useState('')
  const [inviting, setInviting] = useState(false)
  const inviteDenied = useDenied('teams.invite')
  const columns = useColumns()
  const [handed, setHanded] = useState<Invitation | null>(null)
  const actions = useMemberActions(team, setHanded)
  const rows = filterRows(team.users, text, (user) => [user.name, user.email])
  return (
    <Box
      title={t('details.members')}
      actions={
        <>
          <SearchBox value={text} onChange={setText} label={t('details.memberFilter')} className="w-56 max-md:flex-1" />
          <Button icon={UserPlus} disabledReason={inviteDenied} onClick={() => setInviting(true)}>
            {t('details.invite')}
          </Button>
        </>
      }
    >
      {rows.length === 0 ? (
        <NoMatches total={team.users.length} onReset={() => setText('')} />
      ) : (
        <DataTable
          flush
          label={t('details.members')}
          rows={rows}
          columns={columns}
          rowKey={(user) => user.id}
          actions={actions}
        />
      )}
      {inviting && !inviteDenied && <TeamInvite team={team} onClose={() => setInviting(false)} onLink={setHanded} />}
      {handed && <InvitationLinkDialog {...handed} onClose={() => setHanded(null)} />}
    </Box>
  )
}

type Invitation = { email: string; link: string }

/** The changes of one member. */
function useMemberCalls(team: Team, onLink: (invitation: Invitation) => void) {
  const { t } = useTranslation('teams')
  const pauses = usePauses()
  const stale = [queryKey('teams.get'), queryKey('teams.list')]
  const changeRole = useCall('teams.change-role', {
    // The user's own role is in users.me.
    stale: [...stale, queryKey('users.me')],
    done: t('details.roleChanged'),
  })
  const remove = useCall('teams.remove-user', { stale, done: t('details.removed') })
  const reinvite = useCall('teams.reinvite', {
    stale,
    onSuccess: (answer, { params }) => {
      const email = team.users.find(({ id }) => id === params.userId)?.email ?? ''
      if (answer?.invitationLink) return onLink({ email, link: answer.invitationLink })
      pauses.begin(params.userId, reinvitePauseMs)
      toastSuccess(t('details.reinvited'))
    },
  })
  return { changeRole, remove, reinvite, isPaused: pauses.active }
}

function useMemberActions(team: Team, onLink: (invitation: Invitation) => void): (member: Member) => RowAction[] {
  const { t } = useTranslation(['teams', 'common'])
  const me = useMe()
  const { changeRole, remove, reinvite, isPaused } = useMemberCalls(team, onLink)
  const byLink = team.invitations === 'link'
  return (member) => {
    const params = { teamId: team.id, userId: member.id }
    const invited = member.status !== 'verified'
    const last = lastOwner(team, member)
    const roleActions = teamRoles
      .filter((role) => role !== member.role && !invited)
      .map((role): RowAction => {
        const icon = role === 'owner' ? Crown : role === 'admin' && member.role === 'user' ? ShieldPlus : ShieldMinus
        return {
          id: `role-${role}`,
          icon,
          label: t('details.makeRole', { role: t(`common:role.${role}`) }),
          disabledReason: changeRole.denied ?? (last && t('details.lastOwner')),
          run: () => {
            const question = {
              title: t('details.roleTitle', { name: member.name, role: t(`common:role.${role}`) }),
              text: t(`details.roleText.${role}`),
              action: t('details.roleChange'),
            }
            void changeRole.ask(question, { params, body: { role } })
          },
        }
      })
    const again: RowAction[] =
      member.status === 'pending' || member.status === 'expired'
        ? [
            {
              id: 'reinvite',
              icon: byLink ? Link : RotateCw,
              label: t(byLink ? 'details.newLink' : 'details.reinvite'),
              inline: true,
              disabledReason:
                reinvite.denied ??
                ((team.invitations === 'none' && t('invite.noMail')) ||
                  (isPaused(member.id) && t('details.reinvitePause'))),
              run: () => reinvite.mutate({ params, query: byLink ? { link: 'true' } : {} }),
            },
          ]
        : []
    const removal: RowAction = {
      id: 'remove',
      icon: UserMinus,
      label: invited ? t('details.revoke') : t('details.remove'),
      danger: true,
      disabledReason:
        remove.denied ||
        (member.id === me?.user.id && !invited && t('details.removeSelf')) ||
        (member.role === 'owner' && t('details.removeOwner')),
      run: () => {
        const question = {
          title: t(invited ? 'details.revokeTitle' : 'details.removeTitle', { name: member.name }),
          text: t(invited ? 'details.revokeText' : 'details.removeText'),
          action: invited ? t('details.revoke') : t('details.remove'),
          danger: true,
        }
        void remove.ask(question, { params })
      },
    }
    return [...again, ...roleActions, removal]
  }
}

function useColumns(): Column<Member>[] {
  const { t } = useTranslation(['teams', 'common'])
  const ownId = useMe()?.user.id
  return [
    {
      id: 'name',
      header: t('details.name'),
      narrow: 'title',
      sort: (user) => user.name,
      cell: (user) => (
        <span className="inline-flex items-center gap-2">
          <Avatar name={user.name} size="sm" />
          <span className="font-strong">{user.name}</span>
          {user.id === ownId && <Pill>{t('details.you')}</Pill>}
        </span>
      ),
    },
    { id: 'email', header: t('details.email'), sort: (user) => user.email, cell: (user) => user.email },
    { id: 'role', header: t('details.role'), sort: (user) => user.role, cell: (user) => t(`common:role.${user.role}`) },
    {
      id: 'status',
      header: t('details.status'),
      narrow: 'lead',
      sort: (user) => user.status,
      cell: (user) => (
        <>
          <State kind="member" value={user.status} />
          {user.mailProblem && (
            <p className="max-w-72 text-small wrap-anywhere whitespace-normal text-failed">
              {t('details.mailProblem', { answer: user.mailProblem })}
            </p>
          )}
        </>
      ),
    },
    timeColumn('lastLogin', t('details.lastLogin'), (user) => user.lastLogin),
  ]
}
