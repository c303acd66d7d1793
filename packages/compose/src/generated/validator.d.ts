/** An error of the schema check, as ajv describes it. */
export type SchemaError = {
  instancePath: string
  keyword: string
  params: { [name: string]: unknown }
  message?: string
}

type Validate = { (value: unknown): boolean; errors?: SchemaError[] | null }

/** Checks everything but the content of services. */
export const validateRoot: Validate
/** Checks one service. */
export const validateService: Validate
