import { limits, type ResponseOf } from '@crux/contract'
import { Snowflake } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Field, TextArea } from '../../components/Field.tsx'
import { useFreezeEnd } from './use-freeze-end.ts'

type Props = {
  freeze: NonNullable<ResponseOf<'packages.preview-promotion'>['freeze']>
  /** False for users who may not deploy during a freeze. */
  mayOverride: boolean
  why: string
  onWhy: (text: string) => void
}

/** Why nothing may be deployed now. An admin may say why it is done all the same. */
export function FreezeOverride({ freeze, mayOverride, why, onWhy }: Props) {
  const { t } = useTranslation(['packages', 'common'])
  const end = useFreezeEnd()(freeze)
  return (
    <section aria-label={end} className="grid gap-3 rounded-md border border-line p-3">
      <div className="flex items-start gap-2">
        <Snowflake aria-hidden className="mt-0.5 text-past" />
        <div className="min-w-0 wrap-anywhere">
          <p className="font-strong">{end}</p>
          <p className="text-ink-2">{freeze.reason}</p>
          {!mayOverride && <p className="text-ink-2">{t('freeze.noneMay')}</p>}
        </div>
      </div>
      {mayOverride && (
        <Field label={t('common:freeze.why')} help={t('common:freeze.whyHelp')}>
          <TextArea
            rows={2}
            value={why}
            maxLength={limits.freezeReason.max}
            onChange={(event) => onWhy(event.target.value)}
          />
        </Field>
      )}
    </section>
  )
}
