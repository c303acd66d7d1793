import { useQuery } from '@tanstack/react-query'
import { Lock, Pencil } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { identityQuery, isSignedInFully } from '../../api/identity.ts'
import { useMe } from '../../api/me.ts'
import { Box, DescriptionList } from '../../components/Box.tsx'
import { ButtonLink } from '../../components/Button.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { Switch } from '../../components/Switch.tsx'
import { Pill } from '../../components/Tag.tsx'
import { links } from '../../routing/links.ts'
import { AccountHead } from './AccountHead.tsx'
import { DeleteAccount } from './DeleteAccount.tsx'
import { UsageSwitch } from './UsageSwitch.tsx'

/** The profile of the user. */
export function ProfilePage() {
  const { t } = useTranslation(['account', 'common'])
  const query = useQuery(identityQuery())
  return (
    <>
      <AccountHead
        title={t('tab.profile')}
        actions={
          <>
            <ButtonLink {...links.editProfile()} icon={Pencil}>
              {t('common:edit')}
            </ButtonLink>
            <ButtonLink {...links.changePassword()} icon={Lock}>
              {t('profile.changePassword')}
            </ButtonLink>
          </>
        }
      />
      <div className="grid gap-4">
        <QueryView query={query} skeleton={<SkeletonRows rows={1} />}>
          {(identity) =>
            isSignedInFully(identity) && (
              <Box label={t('tab.profile')}>
                <DescriptionList
                  items={[
                    { label: t('profile.firstName'), value: identity.firstName || '-' },
                    { label: t('profile.lastName'), value: identity.lastName || '-' },
                    {
                      label: t('profile.email'),
                      isLong: true,
                      value: (
                        <span className="inline-flex flex-wrap items-center gap-2">
                          <span className="break-all">{identity.email}</span>
                          <Pill tone={identity.verified ? 'accent' : 'past'}>
                            {t(identity.verified ? 'profile.verified' : 'profile.notVerified')}
                          </Pill>
                        </span>
                      ),
                    },
                  ]}
                />
              </Box>
            )
          }
        </QueryView>
        <FirstStepsSwitch />
        <UsageSwitch />
        {isSignedInFully(query.data) && <DeleteAccount email={query.data.email} />}
      </div>
    </>
  )
}

function FirstStepsSwitch() {
  const { t } = useTranslation('account')
  const me = useMe()
  const stale = [queryKey('users.me')]
  const show = useCall('users.show-onboarding', { stale })
  const hide = useCall('users.hide-onboarding', { stale })
  if (!me) return null
  return (
    <Box>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the switch inside is a labelable button */}
      <label className="flex items-center gap-3 px-3.5 py-3">
        <Switch
          checked={me.onboarding}
          disabled={show.isPending || hide.isPending}
          onChange={(on) => (on ? show : hide).mutate({})}
        />
        <span>
          <span className="font-strong">{t('profile.firstSteps')}</span>
          <span className="block text-ink-2">{t('profile.firstStepsHelp')}</span>
        </span>
      </label>
    </Box>
  )
}
