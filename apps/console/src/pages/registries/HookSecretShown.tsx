import type { HookKind, ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { Copyable } from '../../components/Copyable.tsx'
import { Dialog } from '../../components/Dialog.tsx'

type Props = {
  made: ResponseOf<'registries.create-hook-secret'>
  kind: Exclude<HookKind, 'v2'>
  onClose: () => void
}

/** Shows a new secret once, with where to paste it. */
export function HookSecretShown({ made, kind, onClose }: Props) {
  const { t } = useTranslation('hooks')
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('shown.title')}
      description={t('shown.text')}
      width="wide:w-[600px]"
      initialFocus={(content) => content.querySelector('[data-body] button')}
      footer={
        <Button variant="main" onClick={onClose}>
          {t('shown.done')}
        </Button>
      }
    >
      <div className="grid gap-4">
        <p>{t(`shown.next.${kind}`)}</p>
        <Copyable label={t(kind === 'hub' ? 'shown.addressWithSecret' : 'address')} text={made.url} />
        {kind !== 'hub' && <Copyable label={t(`shown.secret.${kind}`)} text={made.secret} />}
      </div>
    </Dialog>
  )
}
