import type { ContainerConfigField, ContainerConfigFields } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { CodeBlock } from '../../components/CodeBlock.tsx'
import { useConfigForm } from './config-context.ts'
import { OriginPill } from './Origin.tsx'
import { Section } from './Section.tsx'
import { otherFields } from './sections.ts'

/** Settings that are set and have no form yet: shown as they are, kept as they are, changeable as JSON. */
export function OtherSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const { own, parent } = useConfigForm()
  const set = setOtherFields(own, parent)
  if (set.length === 0) return null
  return (
    <Section id="other" title={t('section.other')} aside={t('other.aside')}>
      <dl className="divide-y divide-line">
        {set.map((field) => (
          <div key={field} className="grid gap-2 px-3 py-2.5">
            <dt className="flex items-center gap-2">
              <code>{field}</code>
              <span className="ml-auto">
                <OriginPill own={isSet(own[field])} />
              </span>
            </dt>
            <dd>
              <CodeBlock
                text={shown(field, isSet(own[field]) ? own[field] : parent?.[field])}
                label={field}
                className="max-h-52 rounded-md border border-line"
              />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

export const setOtherFields = (
  own: ContainerConfigFields,
  parent: ContainerConfigFields | null,
): ContainerConfigField[] => otherFields.filter((field) => isSet(own[field]) || isSet(parent?.[field]))

const isSet = (value: unknown): boolean =>
  value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0)

/** Values of secrets are for the node alone, and ids say nothing to a person. */
function shown(field: ContainerConfigField, value: unknown): string {
  return (
    JSON.stringify(
      value,
      (name, inner: unknown) =>
        name === 'id' || (field === 'secrets' && (name === 'value' || name === 'publicKey')) ? undefined : inner,
      2,
    ) ?? ''
  )
}
