import type { Session } from '@ory/kratos-client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Laptop, LogOut, Smartphone } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { queryClient } from '../../api/client.ts'
import { currentSessionQuery, endSessions, sessionsQuery } from '../../api/identity.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { confirm } from '../../components/confirm.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { Pill } from '../../components/Tag.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { toastError, toastSuccess } from '../../components/toasts.tsx'
import { AccountHead } from './AccountHead.tsx'
import { authMethodLabels } from './auth-method-labels.ts'
import { deviceName, toDeviceName } from './device.ts'

/** The sessions of the user, which can be ended here. */
export function SessionsPage() {
  const { t } = useTranslation('account')
  const current = useQuery(currentSessionQuery())
  const others = useQuery(sessionsQuery())
  const end = useMutation({
    mutationFn: endSessions,
    onSuccess: () => {
      toastSuccess(t('sessions.ended'))
      return queryClient.invalidateQueries({ queryKey: sessionsQuery().queryKey })
    },
    onError: toastError,
  })
  const endAll = async () => {
    const question = {
      title: t('sessions.allTitle'),
      text: t('sessions.allText'),
      action: t('sessions.all'),
      danger: true,
    }
    if (await confirm(question)) end.mutate(undefined)
  }
  return (
    <>
      <AccountHead
        title={t('tab.sessions')}
        actions={
          <Button
            icon={LogOut}
            variant="bad"
            busy={end.isPending}
            disabledReason={others.data?.length === 0 && t('sessions.noOthers')}
            onClick={endAll}
          >
            {t('sessions.all')}
          </Button>
        }
      />
      <QueryView query={others} skeleton={<SkeletonRows rows={2} />}>
        {(sessions) => (
          <QueryView query={current} skeleton={<SkeletonRows rows={2} />}>
            {(own) => (
              <Box>
                <ul className="divide-y divide-line">
                  <SessionRow session={own} mark={<Pill tone="accent">{t('sessions.this')}</Pill>} />
                  {sessions.map((session) => (
                    <SessionRow
                      key={session.id}
                      session={session}
                      action={
                        <Button
                          size="sm"
                          busy={end.isPending && end.variables === session.id}
                          onClick={() => end.mutate(session.id)}
                        >
                          {t('sessions.end')}
                        </Button>
                      }
                    />
                  ))}
                </ul>
              </Box>
            )}
          </QueryView>
        )}
      </QueryView>
    </>
  )
}

function SessionRow({ session, mark, action }: { session: Session; mark?: React.ReactNode; action?: React.ReactNode }) {
  const { t } = useTranslation('account')
  const device = session.devices?.[0]
  const { system } = toDeviceName(device?.user_agent ?? '')
  const Icon = ['Android', 'iPhone', 'iPad'].includes(system) ? Smartphone : Laptop
  const way = authMethodLabels(session.authentication_methods ?? [])
  return (
    <li className="flex min-h-12 items-center gap-3 px-3.5 py-2">
      <Icon aria-hidden className="text-ink-2" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-strong" title={device?.user_agent}>
            {deviceName(device?.user_agent ?? '')}
          </span>
          {mark}
        </p>
        <p className="text-small text-ink-2">
          {device?.ip_address && <span className="mono">{device.ip_address}, </span>}
          {way ? t('sessions.sinceWith', { way }) : t('sessions.since')}{' '}
          {session.authenticated_at && <TimeAgo at={session.authenticated_at} />}
        </p>
      </div>
      {action}
    </li>
  )
}
