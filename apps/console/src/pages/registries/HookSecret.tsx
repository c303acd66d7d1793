import type { HookKind, ResponseOf } from '@crux/contract'
import { KeyRound, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { Box, DescriptionList } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { confirm } from '../../components/confirm.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'

const HookSecretShown = lazyComponent(async () => (await import('./HookSecretShown.tsx')).HookSecretShown)

type Props = {
  params: { teamSlug: string; registryId: string }
  kind: Exclude<HookKind, 'v2'>
  hook: ResponseOf<'registries.list-hooks'>[number] | null
}

/** The webhook of a service: its secret is created, shown once, and deleted. */
export function HookSecret({ params, kind, hook }: Props) {
  const { t } = useTranslation('hooks')
  const [made, setMade] = useState<ResponseOf<'registries.create-hook-secret'> | null>(null)
  const stale = [queryKey('registries.list-hooks', { params })]
  const create = useCall('registries.create-hook-secret', { stale })
  const remove = useCall('registries.delete-hook-secret', { stale, done: t('deleted') })
  const call = { params: { ...params, kind } }
  const ask = async () => {
    const title = t('deleteQuestion.title', { hook: t(`kind.${kind}`) })
    if (await confirm({ title, text: t('deleteQuestion.text'), action: t('delete'), danger: true })) remove.mutate(call)
  }
  const address = `${location.origin}/api/${params.teamSlug}/registries/${params.registryId}/hooks/${kind}`
  return (
    <Box
      title={t(`kind.${kind}`)}
      actions={
        hook ? (
          <Button
            size="sm"
            icon={Trash2}
            variant="bad"
            disabledReason={remove.denied}
            busy={remove.isPending}
            onClick={() => void ask()}
          >
            {t('delete')}
          </Button>
        ) : (
          <Button
            size="sm"
            icon={KeyRound}
            disabledReason={create.denied}
            busy={create.isPending}
            onClick={() => create.mutate(call, { onSuccess: setMade })}
          >
            {t('create')}
          </Button>
        )
      }
    >
      {hook ? (
        <DescriptionList
          items={[
            // The address of Docker Hub contains the secret, so it cannot be shown again.
            ...(kind === 'hub' ? [] : [{ label: t('address'), value: <Address text={address} />, isLong: true }]),
            { label: t('created'), value: <RelativeTime at={hook.createdAt} /> },
            ...(hook.createdBy ? [{ label: t('createdBy'), value: hook.createdBy }] : []),
          ]}
        />
      ) : (
        <p className="px-3.5 py-3 text-ink-2">{t(`none.${kind}`)}</p>
      )}
      {made && <HookSecretShown made={made} kind={kind} onClose={() => setMade(null)} />}
    </Box>
  )
}

const Address = ({ text }: { text: string }) => (
  <span className="inline-flex max-w-full items-center gap-1">
    <code className="min-w-0 wrap-anywhere">{text}</code>
    <CopyButton text={text} />
  </span>
)
