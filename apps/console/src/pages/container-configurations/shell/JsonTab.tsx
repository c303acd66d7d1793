import { getField, newId } from '@crux/config-editor'
import { type ContainerConfigFields as Fields, isContainerConfigField } from '@crux/contract'
import { configFromJson, configToJson } from '@crux/rules'
import { configJsonSchema } from '@crux/rules/json-schema'
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../../components/Box.tsx'
import { FieldError } from '../../../components/Field.tsx'
import { isBase, useConfigForm } from '../form/config-context.ts'
import { FieldNotes } from '../form/FieldNotes.tsx'

const JsonEditor = lazy(() =>
  import('../../../components/JsonEditor.tsx').then((module) => ({ default: module.JsonEditor })),
)

/**
 * The same layer as text. What can be read goes the same way as edits of the form; the first problem is shown below. While the user types
 * here the text does not follow the others, so each change is one of what the text said before, not of what is stored by now.
 */
export function JsonTab() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { own, kind, editAll, readOnly, editors, configId, conflicts, firstError } = form
  const base = isBase(kind)
  const stored = useMemo(() => getText(own, base), [own, base])
  const schema = useMemo(() => configJsonSchema({ base }), [base])
  const [text, setText] = useState(stored)
  const [focused, setFocused] = useState(false)
  /** The value of the text. */
  const said = useRef(own)
  const read = (value: string) => configFromJson(value, said.current, { newId, base })
  const problem = useMemo(() => {
    const result = configFromJson(text, said.current, { newId, base })
    return result.ok ? null : result
  }, [text, base])
  // What can be read may still break a rule.
  const shown = problem ?? firstError
  // A text that cannot be read stays as it was typed.
  const follows = !focused && !problem
  if (follows) said.current = own
  const other = editors.getEditor(configId, 'json')

  useEffect(() => {
    if (follows) setText(stored)
  }, [stored, follows])

  const change = (value: string) => {
    setText(value)
    const result = read(value)
    if (!result.ok) return
    const seen = said.current
    said.current = { ...seen, ...result.patch }
    editAll(
      Object.entries(result.patch).flatMap(([field, value]) =>
        isContainerConfigField(field) ? [{ field, value }] : [],
      ),
      seen,
    )
  }
  return (
    <Box title={t('json.title')} trailing={t('json.scopeNote')}>
      <div style={other ? { outline: `2px solid ${other.color}`, outlineOffset: -2 } : undefined}>
        <Suspense fallback={<div className="skeleton m-3 h-72" />}>
          <JsonEditor
            label={t('json.title')}
            value={text}
            onChange={change}
            readOnly={readOnly !== null}
            schema={schema}
            lint={(value) => {
              const result = read(value)
              return result.ok ? null : { property: result.property, message: result.description }
            }}
            onFocus={() => {
              setFocused(true)
              if (!readOnly) editors.focus(configId, 'json')
            }}
            onBlur={() => {
              setFocused(false)
              editors.blur(configId, 'json')
            }}
          />
        </Suspense>
      </div>
      {[...new Set(Object.keys(conflicts).map(getField))].map((field) => (
        <FieldNotes key={field} field={field} />
      ))}
      {shown && (
        <div className="border-t border-line px-3 py-2.5">
          <FieldError>
            {shown.property ? `${shown.property}: ` : ''}
            {shown.description}
            {problem && <span className="block text-ink-2">{t('json.notSent')}</span>}
          </FieldError>
        </div>
      )}
    </Box>
  )
}

const getText = (own: Fields, base: boolean): string => JSON.stringify(configToJson(own, { base }), null, 2)
