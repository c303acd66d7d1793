import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Fingerprint, Link2, Unlink } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { client } from '../../api/client.ts'
import { fieldValue, getCsrfToken } from '../../api/identity.ts'
import { useMe } from '../../api/me.ts'
import { Box } from '../../components/Box.tsx'
import { Button, ButtonLink } from '../../components/Button.tsx'
import { confirm } from '../../components/confirm.tsx'
import { toastSuccess, toastText } from '../../components/toasts.tsx'
import { describeError } from '../../errors/describe-error.ts'
import { FormBanner } from '../../forms/FormShell.tsx'
import { links } from '../../routing/links.ts'
import { FlowGate } from '../auth/FlowGate.tsx'
import { followRedirect } from '../auth/follow-redirect.ts'
import { type LoginProvider, listProviders } from '../auth/providers.ts'
import { useSettingsFlow } from '../auth/use-settings-flow.ts'
import { hasWebAuthn, makeKey } from '../auth/web-authn.ts'
import { AccountHead } from './AccountHead.tsx'
import { KeyRows } from './KeyRows.tsx'
import { getKeys } from './settings-nodes.ts'
import { useSettings } from './use-settings.ts'

const here = '/auth/settings/sign-in'
const route = getRouteApi('/app/auth/settings/sign-in')

/** The account at the provider is already linked to another user. */
const taken = '4000007'
/** The flow of a recovery, which requires a new password first. */
const recovered = 1060001

/** The ways to sign in: password, passkeys, sign-in providers. */
export function SignInMethodsPage() {
  const { t } = useTranslation('account')
  const me = useMe()
  const { flow: id } = route.useSearch()
  const navigate = useNavigate()
  const settings = useSettings(here, id)
  const { flow, opened, pending, press, ask, error } = settings
  const passkeys = getKeys(flow, 'passkey_remove')
  const createOptions = fieldValue(flow, 'passkey_create_data')
  const addPasskey = () =>
    press(async () => {
      const made = await makeKey(createOptions, me?.user.email)
      return { method: 'passkey', passkey_settings_register: made }
    }, t('passkeys.added'))
  // A browser that returns with a flow comes from a provider or from a recovery.
  const back = useRef(id)
  useEffect(() => {
    if (!flow || back.current !== flow.id) return
    back.current = undefined
    if (flow.ui.messages?.some((message) => message.id === recovered)) void navigate(links.newPassword())
    else if (flow.state === 'success') toastSuccess(t('providers.linkedNow'))
  }, [flow, navigate, t])
  return (
    <>
      <AccountHead title={t('tab.signIn')} />
      <FlowGate opened={opened} fields={3}>
        <div className="grid gap-4">
          {id !== undefined && flow?.id === id && error && (
            <FormBanner>{error.error === taken ? t('providers.taken') : describeError(error).text}</FormBanner>
          )}
          <Box
            title={t('password.title')}
            actions={
              <ButtonLink {...links.changePassword()} size="sm">
                {t('profile.changePassword')}
              </ButtonLink>
            }
          >
            <p className="px-3.5 py-3 text-ink-2">{t('password.text')}</p>
          </Box>
          <Box
            title={t('passkeys.title')}
            actions={
              <Button
                size="sm"
                icon={Fingerprint}
                busy={pending}
                disabledReason={!hasWebAuthn() ? t('keys.noBrowser') : createOptions === '' && t('passkeys.notOffered')}
                onClick={addPasskey}
              >
                {t('passkeys.add')}
              </Button>
            }
          >
            <KeyRows
              keys={passkeys}
              empty={t('passkeys.empty')}
              onRemove={(key) => {
                const question = {
                  title: t('keys.removeTitle', { name: key.name || t('passkeys.one') }),
                  text: t('passkeys.removeText'),
                  action: t('keys.remove'),
                  danger: true,
                }
                return ask(question, { method: 'passkey', passkey_remove: key.id }, t('keys.removed'))
              }}
            />
          </Box>
          <Providers flow={flow} id={id} />
        </div>
      </FlowGate>
    </>
  )
}

function Providers({ flow, id }: { flow: ReturnType<typeof useSettings>['flow']; id: string | undefined }) {
  const { t } = useTranslation('account')
  const { send, pending } = useSettingsFlow({
    id,
    returnTo: here,
    submit: (current, { provider, link }: { provider: string; link: boolean }) => {
      const body = { flow: current.id, csrfToken: getCsrfToken(current), provider }
      return followRedirect(client.request(link ? 'auth.link-provider' : 'auth.unlink-provider', { body }))
    },
    onDone: (_, { link }) => {
      if (!link) toastSuccess(t('providers.unlinked'))
    },
  })
  const linkable = listProviders(flow, 'link')
  const linked = listProviders(flow, 'unlink')
  const change = (provider: string, link: boolean) =>
    send({ provider, link }).catch((error) => toastText(describeError(error).text || t('refused')))
  const unlink = async ({ id, name }: LoginProvider) => {
    const question = {
      title: t('providers.unlinkTitle', { name }),
      text: t('providers.unlinkText'),
      action: t('providers.unlink'),
      danger: true,
    }
    if (await confirm(question)) await change(id, false)
  }
  if (linkable.length + linked.length === 0)
    return (
      <Box title={t('providers.title')}>
        <p className="px-3.5 py-3 text-ink-2">{t('providers.none')}</p>
      </Box>
    )
  return (
    <Box title={t('providers.title')}>
      <ul className="divide-y divide-line">
        {linked.map((provider) => (
          <li key={provider.id} className="flex min-h-11 items-center gap-3 px-3.5 py-2">
            <span className="font-strong">{provider.name}</span>
            <span className="text-ink-2">{t('providers.linked')}</span>
            <Button
              size="sm"
              icon={Unlink}
              className="ml-auto"
              busy={pending}
              disabledReason={provider.last && t('lastWay')}
              onClick={() => unlink(provider)}
            >
              {t('providers.unlink')}
            </Button>
          </li>
        ))}
        {linkable.map(({ id, name }) => (
          <li key={id} className="flex min-h-11 items-center gap-3 px-3.5 py-2">
            <span className="font-strong">{name}</span>
            <Button size="sm" icon={Link2} className="ml-auto" busy={pending} onClick={() => change(id, true)}>
              {t('providers.link')}
            </Button>
          </li>
        ))}
      </ul>
    </Box>
  )
}
