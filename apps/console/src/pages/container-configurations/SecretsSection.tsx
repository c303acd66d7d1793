import { CircleDashed, CircleX, ShieldCheck } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { useConfigForm } from './config-context.ts'
import { OriginPill } from './Origin.tsx'
import { RowErrors, Section } from './Section.tsx'

/** The secrets of a deployment or an instance: which there are, and whether each has a value. */
export function SecretsSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const own = new Map((form.own.secrets ?? []).map((row) => [row.key, row]))
  const below = (form.parent?.secrets ?? []).filter((row) => !own.has(row.key))
  const required = new Set((form.parent?.secrets ?? []).flatMap((row) => (row.required ? [row.key] : [])))
  const rows = [...below, ...own.values()]
  return (
    <Section id="secrets" aside={t('secrets.concreteAside')}>
      {rows.length === 0 ? (
        <p className="px-3 py-2.5 text-ink-3">{t('empty.secrets')}</p>
      ) : (
        <ul className="divide-y divide-line">
          {rows.map((row) => {
            const state = row.value ? 'set' : row.required || required.has(row.key) ? 'missing' : 'unset'
            const Icon = icons[state]
            return (
              <li key={row.key} className="flex min-h-[42px] flex-wrap items-center gap-2 px-3 py-1.5">
                <span className="mono w-[30%] min-w-36 break-all">{row.key}</span>
                <span
                  className={cx('inline-flex items-center gap-2', state === 'missing' ? 'text-failed' : 'text-ink-2')}
                >
                  <Icon aria-hidden />
                  {t(`secrets.state.${state}`)}
                </span>
                <span className="ml-auto">
                  <OriginPill own={own.has(row.key)} part={`secrets.${row.key}`} />
                </span>
              </li>
            )
          })}
        </ul>
      )}
      <RowErrors errors={form.errorsBelow('secrets')} />
    </Section>
  )
}

const icons = { set: ShieldCheck, missing: CircleX, unset: CircleDashed }
