#!/bin/sh
echo "hällo"
