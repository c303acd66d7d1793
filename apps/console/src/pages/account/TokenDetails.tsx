import type { ApiError } from '@crux/client'
import { KeyRound, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Box, DescriptionList } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import type { Created } from '../../forms/token-create.tsx'
import { readTokenDraft } from '../../forms/token-draft.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { askRevoke } from './revoke-token.ts'
import { Expiry } from './use-token-columns.tsx'

const TokenCreate = lazyComponent(async () => (await import('../../forms/token-create.tsx')).TokenCreate)

type Props = {
  /** Selects the texts `deployment.*` or `registry.*`. */
  of: 'deployment' | 'registry'
  token: { name?: string; createdAt: string; createdBy?: string | null; expiresAt?: string | null } | null | undefined
  create: (values: { name: string; expirationInDays: number | null }) => Promise<Created>
  creating: { isPending: boolean; error: ApiError | null; denied: string | null }
  revoke: () => void
  revokeDenied: string | null
}

/** The only token of a deployment or registry: created, shown once, revoked. */
export function TokenDetails({ of, token, create, creating, revoke, revokeDenied }: Props) {
  const { t } = useTranslation('tokens')
  const draftKey = location.pathname
  const [open, setOpen] = useState(() => readTokenDraft(draftKey) !== undefined)
  const title = t(`${of}.title`)
  const ask = async () => {
    if (await askRevoke(token?.name ?? title, t(`${of}.revokeText`))) revoke()
  }
  return (
    <Box
      title={title}
      actions={
        token ? (
          <Button size="sm" icon={Trash2} variant="bad" disabledReason={revokeDenied} onClick={() => void ask()}>
            {t('revoke')}
          </Button>
        ) : (
          <Button size="sm" icon={KeyRound} disabledReason={creating.denied} onClick={() => setOpen(true)}>
            {t('create')}
          </Button>
        )
      }
    >
      {token ? (
        <DescriptionList
          items={[
            ...(token.name ? [{ label: t('name'), value: token.name }] : []),
            { label: t('created'), value: <RelativeTime at={token.createdAt} /> },
            ...(token.createdBy ? [{ label: t('createdBy'), value: token.createdBy }] : []),
            { label: t('expires'), value: <Expiry at={token.expiresAt} /> },
          ]}
        />
      ) : (
        <p className="px-3.5 py-3 text-ink-2">{t(`${of}.none`)}</p>
      )}
      {open && (
        <TokenCreate
          title={t(`${of}.add`)}
          draftKey={draftKey}
          description={t(`${of}.addText`)}
          nameless={of === 'registry'}
          creating={creating}
          create={({ name, expiry }) => create({ name, expirationInDays: expiry === 0 ? null : expiry })}
          onClose={() => setOpen(false)}
        />
      )}
    </Box>
  )
}
