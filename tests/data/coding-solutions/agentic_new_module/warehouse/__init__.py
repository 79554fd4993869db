from warehouse.records import Movement, Supplier
from warehouse.reorder import MissingSupplier, Order, reorder_list
from warehouse.stock import counted

__all__ = ["MissingSupplier", "Movement", "Order", "Supplier", "counted", "reorder_list"]
