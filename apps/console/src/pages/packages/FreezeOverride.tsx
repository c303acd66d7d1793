import { limits, type ResponseOf } from '@crux/contract'
import { Snowflake } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Field, TextArea } from '../../components/Field.tsx'
import { toMinutes } from './EnvironmentHead.tsx'

type Props = {
  freeze: NonNullable<ResponseOf<'packages.preview-promotion'>['freeze']>
  /** Why the user may not deploy during a freeze. */
  denied: string | null
  why: string
  onWhy: (text: string) => void
}

/** Why nothing may be deployed now. An admin may say why it is done all the same. */
export function FreezeOverride({ freeze, denied, why, onWhy }: Props) {
  const { t } = useTranslation('packages')
  const until = toMinutes(freeze.until)
  return (
    <section aria-label={t('freeze.until', { time: until })} className="grid gap-3 rounded-md border border-line p-3">
      <div className="flex items-start gap-2">
        <Snowflake aria-hidden className="mt-0.5 text-past" />
        <div className="min-w-0 wrap-anywhere">
          <p className="font-strong">{t('freeze.until', { time: until })}</p>
          <p className="text-ink-2">{freeze.reason}</p>
          {denied && <p className="text-ink-2">{t('freeze.noneMay', { time: until })}</p>}
        </div>
      </div>
      {!denied && (
        <Field label={t('freeze.why')} help={t('freeze.whyHelp')}>
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
