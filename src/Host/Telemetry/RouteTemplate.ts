/** Route paths as telemetry names them. */

/** A parameter of a path, with its pattern and its mark of being optional where it has them. */
const parameter = /:([A-Za-z0-9_]+)(?:\((?:[^()]|\([^()]*\))*\))?\??/g

/** The template of a route's path: `/items/{id}` for `/items/:id`. */
export const fromPath = (path: string): string => path.replaceAll(parameter, "{$1}")
