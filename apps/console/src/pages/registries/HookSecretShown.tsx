import type { HookKind, ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { Copyable } from '../../components/Copyable.tsx'
import { ShownOnceDialog } from '../../components/ShownOnceDialog.tsx'

type Props = {
  made: ResponseOf<'registries.create-hook-secret'>
  kind: Exclude<HookKind, 'v2'>
  onClose: () => void
}

/** Shows a new secret once, with where to paste it. */
export function HookSecretShown({ made, kind, onClose }: Props) {
  const { t } = useTranslation('hooks')
  return (
    <ShownOnceDialog title={t('shown.title')} text={t('shown.text')} done={t('shown.done')} onClose={onClose}>
      <p>{t(`shown.next.${kind}`)}</p>
      <Copyable label={t(kind === 'hub' ? 'shown.addressWithSecret' : 'address')} text={made.url} />
      {kind !== 'hub' && <Copyable label={t(`shown.secret.${kind}`)} text={made.secret} />}
    </ShownOnceDialog>
  )
}
