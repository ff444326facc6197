/**
 * NestJS on Fastify with the features of layerhost's pipeline, and its ValidationPipe for what comes. Node runs TypeScript
 * without transforming it, so the decorators are called rather than written with `@`; that is what a compiler makes of them.
 */
import "reflect-metadata"
import {
  BadRequestException,
  Body,
  Controller,
  Get,
  HttpCode,
  Module,
  Param,
  Post,
  ValidationPipe
} from "@nestjs/common"
import { NestFactory } from "@nestjs/core"
import { FastifyAdapter, type NestFastifyApplication } from "@nestjs/platform-fastify"
import { Type } from "class-transformer"
import {
  IsArray,
  IsInt,
  IsNumber,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  MinLength,
  ValidateNested
} from "class-validator"
import type { ValidationError } from "class-validator"
import * as Features from "./fastifyFeatures.ts"
import { confirm, emailPattern, health, type InvalidField, item, items, port, problem } from "../service.ts"

class Line {
  sku!: string
  quantity!: number
  price!: number
}

class Order {
  customer!: string
  email!: string
  note!: string
  lines!: Array<Line>
}

class ServiceController {
  get(id: string) {
    return item(id)
  }
  list() {
    return items
  }
  order(order: Order) {
    return confirm(order)
  }
  health() {
    return health()
  }
}

// oxlint-disable-next-line typescript/no-extraneous-class -- a module is a class, and says all in its decorator
class ServiceModule {}

const decorateField = (target: object, key: string, ...decorators: ReadonlyArray<PropertyDecorator>): void => {
  for (const decorator of decorators) decorator(target, key)
}
decorateField(Line.prototype, "sku", IsString(), MinLength(1))
decorateField(Line.prototype, "quantity", IsInt(), Min(1), Max(1000))
decorateField(Line.prototype, "price", IsNumber(), Min(0))
decorateField(Order.prototype, "customer", IsString(), Length(1, 100))
decorateField(Order.prototype, "email", Matches(emailPattern))
decorateField(Order.prototype, "note", IsString())
decorateField(
  Order.prototype,
  "lines",
  IsArray(),
  ValidateNested({ each: true }),
  Type(() => Line)
)

const decorateMethod = (
  key: keyof ServiceController,
  parameters: ReadonlyArray<readonly [object, ParameterDecorator]>,
  ...decorators: ReadonlyArray<MethodDecorator>
): void => {
  const { prototype } = ServiceController
  Reflect.defineMetadata(
    "design:paramtypes",
    parameters.map(([type]) => type),
    prototype,
    key
  )
  parameters.forEach(([, decorator], index) => decorator(prototype, key, index))
  for (const decorator of decorators) decorator(prototype, key, Object.getOwnPropertyDescriptor(prototype, key)!)
}
decorateMethod("get", [[String, Param("id")]], Get("items/:id"))
decorateMethod("list", [], Get("items"))
decorateMethod("order", [[Order, Body()]], Post("orders"), HttpCode(200))
decorateMethod("health", [], Get("health/dependencies"))
Controller()(ServiceController)
Module({ controllers: [ServiceController] })(ServiceModule)

/** The fields of nested errors, as `lines.3.quantity`. */
const invalidFields = (errors: ReadonlyArray<ValidationError>, prefix = ""): ReadonlyArray<InvalidField> =>
  errors.flatMap(({ property, constraints = {}, children = [] }) => [
    ...Object.values(constraints).map((validationMessage) => ({ field: prefix + property, validationMessage })),
    ...invalidFields(children, `${prefix}${property}.`)
  ])

const app = await NestFactory.create<NestFastifyApplication>(ServiceModule, new FastifyAdapter(Features.options), {
  logger: false
})
await Features.addFeatures(app.getHttpAdapter().getInstance())
app.useGlobalPipes(
  new ValidationPipe({
    transform: true,
    exceptionFactory: (errors) => new BadRequestException(problem(invalidFields(errors)))
  })
)
await app.listen(port, "127.0.0.1")
